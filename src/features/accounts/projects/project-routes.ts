import type { FastifyPluginAsync, FastifyRequest } from "fastify";
import { projectsWith } from "../../../http/access.ts";
import { operation } from "../../../http/operation.ts";
import { toListBody } from "../../../wire/openai/organization/organization-list.ts";
import {
  ProjectCreateBody,
  ProjectListQuery,
  ProjectUpdateBody,
  refuseResidency,
  toProject,
} from "../../../wire/openai/organization/organization-projects.ts";
import { parse } from "../../../wire/openai/validate.ts";
import { Project, ProjectList } from "../../../wire/openapi/organization-answers.ts";
import type { Accounts } from "../accounts.ts";
import { actorOf } from "../audit/actor.ts";

interface OfProject {
  Params: { project: string };
}

/** /v1/organization/projects */
export function projects(accounts: Accounts): FastifyPluginAsync {
  return async (app) => {
    app.post(
      "/projects",
      operation({
        grants: "access",
        summary: "Creates a project.",
        tag: "Projects",
        permission: "admin",
        requires: "organization.projects.write",
        body: ProjectCreateBody,
        answer: Project,
      }),
      async (request) => {
        const body = parse(ProjectCreateBody, request.body);
        refuseResidency(body);
        return toProject(await accounts.projects.create(actorOf(request), request.caller.organizationId, body.name));
      },
    );

    app.get(
      "/projects",
      operation({
        summary: "Lists the projects; for a user, those that they may read.",
        tag: "Projects",
        permission: "admin",
        requires: "signed-in",
        query: ProjectListQuery,
        answer: ProjectList,
      }),
      async (request) => {
        const { include_archived, ...page } = parse(ProjectListQuery, request.query);
        const { organizationId, access } = request.caller;
        const visible = projectsWith(access, "project.read");
        const order = { ...page, order: "asc" } as const;
        const projects = await accounts.projects.list(organizationId, include_archived, order, visible);
        return toListBody(projects, toProject);
      },
    );

    app.get<OfProject>(
      "/projects/:project",
      operation({
        summary: "Retrieves a project.",
        tag: "Projects",
        permission: "admin",
        requires: "project.read",
        answer: Project,
      }),
      async (request) => {
        return toProject(await accounts.projects.retrieve(projectOf(request)));
      },
    );

    app.post<OfProject>(
      "/projects/:project",
      operation({
        summary: "Renames a project.",
        tag: "Projects",
        permission: "admin",
        requires: "project.write",
        body: ProjectUpdateBody,
        answer: Project,
      }),
      async (request) => {
        const body = parse(ProjectUpdateBody, request.body);
        refuseResidency(body);
        const project = projectOf(request);
        if (body.name === undefined || body.name === null) return toProject(await accounts.projects.retrieve(project));
        return toProject(await accounts.projects.rename(actorOf(request), project, body.name));
      },
    );

    app.post<OfProject>(
      "/projects/:project/archive",
      operation({
        summary: "Archives a project and stops its keys.",
        tag: "Projects",
        permission: "admin",
        requires: "project.write",
        answer: Project,
      }),
      async (request) => {
        return toProject(await accounts.projects.archive(actorOf(request), projectOf(request)));
      },
    );
  };
}

/** Reads the project of a path; a project of another organization is not found. */
export function projectOf(request: FastifyRequest<OfProject>): { organizationId: string; id: string } {
  return { organizationId: request.caller.organizationId, id: request.params.project };
}
