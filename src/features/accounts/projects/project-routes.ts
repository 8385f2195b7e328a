import type { FastifyPluginAsync, FastifyRequest } from "fastify";
import { projectsWith } from "../../../http/access.ts";
import { operation, routes } from "../../../http/operation.ts";
import { toListBody } from "../../../wire/openai/organization/organization-list.ts";
import {
  ProjectCreateBody,
  ProjectListQuery,
  ProjectUpdateBody,
  refuseResidency,
  toProject,
} from "../../../wire/openai/organization/organization-projects.ts";
import { Project, ProjectList } from "../../../wire/openapi/organization-answers.ts";
import type { Accounts } from "../accounts.ts";
import { actorOf } from "../audit/actor.ts";

interface OfProject {
  Params: { project: string };
}

/** /v1/organization/projects */
export function projects(accounts: Accounts): FastifyPluginAsync {
  return routes(
    operation(
      "POST /projects",
      {
        grants: "access",
        summary: "Creates a project.",
        tag: "Projects",
        permission: "admin",
        requires: "organization.projects.write",
        body: ProjectCreateBody,
        answer: Project,
      },
      async ({ body, caller, request }) => {
        refuseResidency(body);
        return toProject(await accounts.projects.create(actorOf(request), caller.organizationId, body.name));
      },
    ),
    operation(
      "GET /projects",
      {
        summary: "Lists the projects; for a user, those that they may read.",
        tag: "Projects",
        permission: "admin",
        requires: "signed-in",
        query: ProjectListQuery,
        answer: ProjectList,
      },
      async ({ query: { include_archived, ...page }, caller }) => {
        const { organizationId, access } = caller;
        const visible = projectsWith(access, "project.read");
        const order = { ...page, order: "asc" } as const;
        const projects = await accounts.projects.list(organizationId, include_archived, order, visible);
        return toListBody(projects, toProject);
      },
    ),
    operation(
      "GET /projects/:project",
      {
        summary: "Retrieves a project.",
        tag: "Projects",
        permission: "admin",
        requires: "project.read",
        answer: Project,
      },
      async ({ request }) => {
        return toProject(await accounts.projects.retrieve(projectOf(request)));
      },
    ),
    operation(
      "POST /projects/:project",
      {
        summary: "Renames a project.",
        tag: "Projects",
        permission: "admin",
        requires: "project.write",
        body: ProjectUpdateBody,
        answer: Project,
      },
      async ({ body, request }) => {
        refuseResidency(body);
        const project = projectOf(request);
        if (body.name === undefined || body.name === null) return toProject(await accounts.projects.retrieve(project));
        return toProject(await accounts.projects.rename(actorOf(request), project, body.name));
      },
    ),
    operation(
      "POST /projects/:project/archive",
      {
        summary: "Archives a project and stops its keys.",
        tag: "Projects",
        permission: "admin",
        requires: "project.write",
        answer: Project,
      },
      async ({ request }) => {
        return toProject(await accounts.projects.archive(actorOf(request), projectOf(request)));
      },
    ),
  );
}

/** Reads the project of a path; a project of another organization is not found. */
export function projectOf(request: FastifyRequest<OfProject>): { organizationId: string; id: string } {
  return { organizationId: request.caller.organizationId, id: request.params.project };
}
