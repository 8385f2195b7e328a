import type { FastifyPluginAsync } from "fastify";
import { operation, routes } from "../../../http/operation.ts";
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
import { deleted, removed } from "../../../wire/openapi/list-answers.ts";
import { ProjectGroup, ProjectGroupList, ProjectUser, ProjectUserList } from "../../../wire/openapi/people-answers.ts";
import type { Accounts } from "../accounts.ts";
import { authorOf } from "../roles/may-grant.ts";
import { projectOf } from "./project-routes.ts";

const READ = { tag: "People", permission: "admin", requires: "project.members.read" } as const;
const WRITE = { tag: "People", permission: "admin", requires: "project.members.write" } as const;

/** /v1/organization/projects/{project}/users */
export function projectUsers(accounts: Accounts): FastifyPluginAsync {
  return routes(
    operation(
      "GET /projects/:project/users",
      {
        ...READ,
        summary: "Lists the users of a project, without those who are in it by a group.",
        query: ProjectUserListQuery,
        answer: ProjectUserList,
      },
      async ({ query, request }) => {
        const page = { ...query, order: "asc" } as const;
        return toListBody(await accounts.projectMembers.listUsers(projectOf(request), page), toProjectUser);
      },
    ),
    operation(
      "POST /projects/:project/users",
      {
        grants: "access",
        ...WRITE,
        summary: "Adds a user to a project.",
        body: ProjectUserCreateBody,
        answer: ProjectUser,
      },
      async ({ body: { user_id, email, role }, request }) => {
        const user = { id: user_id ?? undefined, email: email ?? undefined };
        return toProjectUser(await accounts.projectMembers.addUser(authorOf(request), projectOf(request), user, role));
      },
    ),
    operation(
      "GET /projects/:project/users/:user",
      { ...READ, summary: "Retrieves a user of a project.", answer: ProjectUser },
      async ({ params, request }) =>
        toProjectUser(await accounts.projectMembers.retrieveUser(projectOf(request), params.user)),
    ),
    operation(
      "POST /projects/:project/users/:user",
      {
        grants: "access",
        ...WRITE,
        summary: "Changes the role of a user in a project.",
        body: ProjectUserUpdateBody,
        answer: ProjectUser,
      },
      async ({ params, body: { role }, request }) => {
        if (role === undefined || role === null)
          throw invalidRequest("Nothing to change was given: set 'role'.", "role");
        const { user } = params;
        const { projectMembers } = accounts;
        return toProjectUser(await projectMembers.updateUser(authorOf(request), projectOf(request), user, role));
      },
    ),
    operation(
      "DELETE /projects/:project/users/:user",
      {
        grants: "access",
        ...WRITE,
        requiresOfSelf: "project.read",
        summary: "Removes a user from a project and revokes the user's keys of it; every user may leave.",
        answer: deleted("organization.project.user.deleted"),
      },
      async ({ params, request }) => {
        const { user } = params;
        await accounts.projectMembers.removeUser(authorOf(request), projectOf(request), user);
        return toDeleted("organization.project.user", user);
      },
    ),
  );
}

/** /v1/organization/projects/{project}/groups */
export function projectGroups(accounts: Accounts): FastifyPluginAsync {
  return routes(
    operation(
      "GET /projects/:project/groups",
      {
        ...READ,
        summary: "Lists the groups of a project.",
        query: ProjectGroupListQuery,
        answer: ProjectGroupList,
      },
      async ({ query, request }) => {
        const page = query;
        const groups = await accounts.projectMembers.listGroups(projectOf(request), page);
        return toCursorBody(groups, toProjectGroup, ({ id }) => id);
      },
    ),
    operation(
      "POST /projects/:project/groups",
      {
        grants: "access",
        ...WRITE,
        summary: "Adds a group to a project, or changes its role.",
        body: ProjectGroupBody,
        answer: ProjectGroup,
      },
      async ({ body: { group_id, role }, request }) => {
        const { projectMembers } = accounts;
        return toProjectGroup(await projectMembers.putGroup(authorOf(request), projectOf(request), group_id, role));
      },
    ),
    operation(
      "GET /projects/:project/groups/:group",
      {
        ...READ,
        summary: "Retrieves a group of a project.",
        query: ProjectGroupQuery,
        answer: ProjectGroup,
      },
      async ({ params, query: { group_type }, request }) => {
        const { group } = params;
        if (group_type !== "group")
          throw new Fault("not-found", `There is no ${group_type} \`${group.slice(0, 100)}\`.`);
        return toProjectGroup(await accounts.projectMembers.retrieveGroup(projectOf(request), group));
      },
    ),
    operation(
      "DELETE /projects/:project/groups/:group",
      {
        grants: "access",
        ...WRITE,
        summary: "Removes a group from a project.",
        answer: removed("project.group.deleted"),
      },
      async ({ params, request }) => {
        const { group } = params;
        await accounts.projectMembers.removeGroup(authorOf(request), projectOf(request), group);
        return { object: "project.group.deleted" as const, deleted: true };
      },
    ),
  );
}
