import type { FastifyPluginAsync, FastifyRequest } from "fastify";
import { operation } from "../../../http/operation.ts";
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
import { parse } from "../../../wire/openai/validate.ts";
import { deleted, removed } from "../../../wire/openapi/organization-answers.ts";
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

interface OfMember {
  Params: { group: string; user: string };
}

const READ = { tag: "People", permission: "admin", requires: "organization.groups.read" } as const;
const WRITE = { tag: "People", permission: "admin", requires: "organization.groups.write" } as const;

/** /v1/organization/groups */
export function groups(accounts: Accounts): FastifyPluginAsync {
  return async (app) => {
    app.get(
      "/groups",
      operation({ ...READ, summary: "Lists the groups.", query: GroupListQuery, answer: GroupList }),
      async (request) => {
        const page = parse(GroupListQuery, request.query);
        return toCursorBody(await accounts.groups.list(request.caller.organizationId, page), toGroup, ({ id }) => id);
      },
    );

    app.post(
      "/groups",
      operation({ grants: "access", ...WRITE, summary: "Creates a group.", body: GroupBody, answer: Group }),
      async (request) => {
        const { name } = parse(GroupBody, request.body);
        return toGroup(await accounts.groups.create(authorOf(request), request.caller.organizationId, name));
      },
    );

    app.get<OfGroup>(
      "/groups/:group",
      operation({ ...READ, summary: "Retrieves a group.", answer: Group }),
      async (request) => toGroup(await accounts.groups.retrieve(groupOf(request))),
    );

    app.post<OfGroup>(
      "/groups/:group",
      operation({ grants: "access", ...WRITE, summary: "Renames a group.", body: GroupBody, answer: UpdatedGroup }),
      async (request) => {
        const { name } = parse(GroupBody, request.body);
        return toUpdatedGroup(await accounts.groups.rename(authorOf(request), groupOf(request), name));
      },
    );

    app.delete<OfGroup>(
      "/groups/:group",
      operation({
        grants: "access",
        ...WRITE,
        summary: "Deletes a group and the roles that its members have by it.",
        answer: deleted("group.deleted"),
      }),
      async (request) => {
        await accounts.groups.delete(authorOf(request), groupOf(request));
        return toDeleted("group", request.params.group);
      },
    );

    app.get<OfGroup>(
      "/groups/:group/users",
      operation({
        ...READ,
        summary: "Lists the users of a group.",
        query: GroupUserListQuery,
        answer: GroupUserList,
      }),
      async (request) => {
        const page = parse(GroupUserListQuery, request.query);
        return toCursorBody(await accounts.groups.listMembers(groupOf(request), page), toGroupUser, ({ id }) => id);
      },
    );

    app.post<OfGroup>(
      "/groups/:group/users",
      operation({
        grants: "access",
        ...WRITE,
        summary: "Adds a user to a group.",
        body: GroupUserBody,
        answer: AddedGroupUser,
      }),
      async (request) => {
        const { user_id } = parse(GroupUserBody, request.body);
        await accounts.groups.addMember(authorOf(request), groupOf(request), user_id);
        return { object: "group.user" as const, user_id, group_id: request.params.group };
      },
    );

    app.get<OfMember>(
      "/groups/:group/users/:user",
      operation({ ...READ, summary: "Retrieves a user of a group.", answer: GroupMember }),
      async (request) => toGroupMember(await accounts.groups.retrieveMember(groupOf(request), request.params.user)),
    );

    app.delete<OfMember>(
      "/groups/:group/users/:user",
      operation({
        grants: "access",
        ...WRITE,
        summary: "Removes a user from a group.",
        answer: removed("group.user.deleted"),
      }),
      async (request) => {
        await accounts.groups.removeMember(authorOf(request), groupOf(request), request.params.user);
        return { object: "group.user.deleted" as const, deleted: true };
      },
    );
  };
}

function groupOf(request: FastifyRequest<OfGroup>): GroupReference {
  return { organizationId: request.caller.organizationId, id: request.params.group };
}
