import type { FastifyPluginAsync, FastifyRequest } from "fastify";
import { operation, routes } from "../../../http/operation.ts";
import {
  GroupBody,
  GroupListQuery,
  GroupUserBody,
  GroupUserListQuery,
  toCursorBody,
  toGroup,
  toGroupMember,
  toGroupUser,
  toUpdatedGroup,
} from "../../../wire/openai/organization/organization-groups.ts";
import { toDeleted } from "../../../wire/openai/organization/organization-list.ts";
import { deleted, removed } from "../../../wire/openapi/list-answers.ts";
import {
  AddedGroupUser,
  Group,
  GroupList,
  GroupMember,
  GroupUserList,
  UpdatedGroup,
} from "../../../wire/openapi/people-answers.ts";
import type { Accounts } from "../accounts.ts";
import { authorOf } from "../roles/may-grant.ts";
import type { GroupReference } from "./group-queries.ts";

interface OfGroup {
  Params: { group: string };
}

const READ = { tag: "People", permission: "admin", requires: "organization.groups.read" } as const;
const WRITE = { tag: "People", permission: "admin", requires: "organization.groups.write" } as const;

/** /v1/organization/groups */
export function groups(accounts: Accounts): FastifyPluginAsync {
  return routes(
    operation(
      "GET /groups",
      { ...READ, summary: "Lists the groups.", query: GroupListQuery, answer: GroupList },
      async ({ query, caller }) => {
        const page = query;
        return toCursorBody(await accounts.groups.list(caller.organizationId, page), toGroup, ({ id }) => id);
      },
    ),
    operation(
      "POST /groups",
      { grants: "access", ...WRITE, summary: "Creates a group.", body: GroupBody, answer: Group },
      async ({ body: { name }, caller, request }) => {
        return toGroup(await accounts.groups.create(authorOf(request), caller.organizationId, name));
      },
    ),
    operation("GET /groups/:group", { ...READ, summary: "Retrieves a group.", answer: Group }, async ({ request }) =>
      toGroup(await accounts.groups.retrieve(groupOf(request))),
    ),
    operation(
      "POST /groups/:group",
      { grants: "access", ...WRITE, summary: "Renames a group.", body: GroupBody, answer: UpdatedGroup },
      async ({ body: { name }, request }) => {
        return toUpdatedGroup(await accounts.groups.rename(authorOf(request), groupOf(request), name));
      },
    ),
    operation(
      "DELETE /groups/:group",
      {
        grants: "access",
        ...WRITE,
        summary: "Deletes a group and the roles that its members have by it.",
        answer: deleted("group.deleted"),
      },
      async ({ params, request }) => {
        await accounts.groups.delete(authorOf(request), groupOf(request));
        return toDeleted("group", params.group);
      },
    ),
    operation(
      "GET /groups/:group/users",
      {
        ...READ,
        summary: "Lists the users of a group.",
        query: GroupUserListQuery,
        answer: GroupUserList,
      },
      async ({ query, request }) => {
        const page = query;
        return toCursorBody(await accounts.groups.listMembers(groupOf(request), page), toGroupUser, ({ id }) => id);
      },
    ),
    operation(
      "POST /groups/:group/users",
      {
        grants: "access",
        ...WRITE,
        summary: "Adds a user to a group.",
        body: GroupUserBody,
        answer: AddedGroupUser,
      },
      async ({ params, body: { user_id }, request }) => {
        await accounts.groups.addMember(authorOf(request), groupOf(request), user_id);
        return { object: "group.user" as const, user_id, group_id: params.group };
      },
    ),
    operation(
      "GET /groups/:group/users/:user",
      { ...READ, summary: "Retrieves a user of a group.", answer: GroupMember },
      async ({ params, request }) => toGroupMember(await accounts.groups.retrieveMember(groupOf(request), params.user)),
    ),
    operation(
      "DELETE /groups/:group/users/:user",
      {
        grants: "access",
        ...WRITE,
        summary: "Removes a user from a group.",
        answer: removed("group.user.deleted"),
      },
      async ({ params, request }) => {
        await accounts.groups.removeMember(authorOf(request), groupOf(request), params.user);
        return { object: "group.user.deleted" as const, deleted: true };
      },
    ),
  );
}

function groupOf(request: FastifyRequest<OfGroup>): GroupReference {
  return { organizationId: request.caller.organizationId, id: request.params.group };
}
