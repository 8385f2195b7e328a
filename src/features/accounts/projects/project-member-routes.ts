import type { FastifyPluginAsync } from "fastify";
import { operation } from "../../../http/operation.ts";
import { Fault, invalidRequest } from "../../../kernel/faults.ts";
import {
  ProjectGroupBody,
  ProjectGroupListQuery,
  ProjectGroupQuery,
  toCursorBody,
  toProjectGroup,
} from "../../../wire/openai/organization/organization-groups.ts";
import { toDeleted, toListBody } from "../../../wire/openai/organization/organization-list.ts";
import {
  ProjectUserCreateBody,
  ProjectUserListQuery,
  ProjectUserUpdateBody,
  toProjectUser,
} from "../../../wire/openai/organization/organization-users.ts";
import { parse } from "../../../wire/openai/validate.ts";
import { deleted, removed } from "../../../wire/openapi/organization-answers.ts";
import { ProjectGroup, ProjectGroupList, ProjectUser, ProjectUserList } from "../../../wire/openapi/people-answers.ts";
import type { Accounts } from "../accounts.ts";
import { authorOf } from "../roles/may-grant.ts";
import { projectOf } from "./project-routes.ts";

interface OfProject {
  Params: { project: string };
}

interface OfUser {
  Params: { project: string; user: string };
}

interface OfGroup {
  Params: { project: string; group: string };
}

const READ = { tag: "People", permission: "admin", requires: "project.members.read" } as const;
const WRITE = { tag: "People", permission: "admin", requires: "project.members.write" } as const;

/** /v1/organization/projects/{project}/users */
export function projectUsers(accounts: Accounts): FastifyPluginAsync {
  return async (app) => {
    app.get<OfProject>(
      "/projects/:project/users",
      operation({
        ...READ,
        summary: "Lists the users of a project, without those who are in it by a group.",
        query: ProjectUserListQuery,
        answer: ProjectUserList,
      }),
      async (request) => {
        const page = { ...parse(ProjectUserListQuery, request.query), order: "asc" } as const;
        return toListBody(await accounts.projectMembers.listUsers(projectOf(request), page), toProjectUser);
      },
    );

    app.post<OfProject>(
      "/projects/:project/users",
      operation({
        grants: "access",
        ...WRITE,
        summary: "Adds a user to a project.",
        body: ProjectUserCreateBody,
        answer: ProjectUser,
      }),
      async (request) => {
        const { user_id, email, role } = parse(ProjectUserCreateBody, request.body);
        const user = { id: user_id ?? undefined, email: email ?? undefined };
        return toProjectUser(await accounts.projectMembers.addUser(authorOf(request), projectOf(request), user, role));
      },
    );

    app.get<OfUser>(
      "/projects/:project/users/:user",
      operation({ ...READ, summary: "Retrieves a user of a project.", answer: ProjectUser }),
      async (request) =>
        toProjectUser(await accounts.projectMembers.retrieveUser(projectOf(request), request.params.user)),
    );

    app.post<OfUser>(
      "/projects/:project/users/:user",
      operation({
        grants: "access",
        ...WRITE,
        summary: "Changes the role of a user in a project.",
        body: ProjectUserUpdateBody,
        answer: ProjectUser,
      }),
      async (request) => {
        const { role } = parse(ProjectUserUpdateBody, request.body);
        if (role === undefined || role === null)
          throw invalidRequest("Nothing to change was given: set 'role'.", "role");
        const { user } = request.params;
        const { projectMembers } = accounts;
        return toProjectUser(await projectMembers.updateUser(authorOf(request), projectOf(request), user, role));
      },
    );

    app.delete<OfUser>(
      "/projects/:project/users/:user",
      operation({
        grants: "access",
        ...WRITE,
        requiresOfSelf: "project.read",
        summary: "Removes a user from a project and revokes the user's keys of it; every user may leave.",
        answer: deleted("organization.project.user.deleted"),
      }),
      async (request) => {
        const { user } = request.params;
        await accounts.projectMembers.removeUser(authorOf(request), projectOf(request), user);
        return toDeleted("organization.project.user", user);
      },
    );
  };
}

/** /v1/organization/projects/{project}/groups */
export function projectGroups(accounts: Accounts): FastifyPluginAsync {
  return async (app) => {
    app.get<OfProject>(
      "/projects/:project/groups",
      operation({
        ...READ,
        summary: "Lists the groups of a project.",
        query: ProjectGroupListQuery,
        answer: ProjectGroupList,
      }),
      async (request) => {
        const page = parse(ProjectGroupListQuery, request.query);
        const groups = await accounts.projectMembers.listGroups(projectOf(request), page);
        return toCursorBody(groups, toProjectGroup, ({ id }) => id);
      },
    );

    app.post<OfProject>(
      "/projects/:project/groups",
      operation({
        grants: "access",
        ...WRITE,
        summary: "Adds a group to a project, or changes its role.",
        body: ProjectGroupBody,
        answer: ProjectGroup,
      }),
      async (request) => {
        const { group_id, role } = parse(ProjectGroupBody, request.body);
        const { projectMembers } = accounts;
        return toProjectGroup(await projectMembers.putGroup(authorOf(request), projectOf(request), group_id, role));
      },
    );

    app.get<OfGroup>(
      "/projects/:project/groups/:group",
      operation({
        ...READ,
        summary: "Retrieves a group of a project.",
        query: ProjectGroupQuery,
        answer: ProjectGroup,
      }),
      async (request) => {
        const { group_type } = parse(ProjectGroupQuery, request.query);
        const { group } = request.params;
        if (group_type !== "group")
          throw new Fault("not-found", `There is no ${group_type} \`${group.slice(0, 100)}\`.`);
        return toProjectGroup(await accounts.projectMembers.retrieveGroup(projectOf(request), group));
      },
    );

    app.delete<OfGroup>(
      "/projects/:project/groups/:group",
      operation({
        grants: "access",
        ...WRITE,
        summary: "Removes a group from a project.",
        answer: removed("project.group.deleted"),
      }),
      async (request) => {
        const { group } = request.params;
        await accounts.projectMembers.removeGroup(authorOf(request), projectOf(request), group);
        return { object: "project.group.deleted" as const, deleted: true };
      },
    );
  };
}
