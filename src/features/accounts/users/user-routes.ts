import type { FastifyPluginAsync, FastifyRequest } from "fastify";
import { operation, routes } from "../../../http/operation.ts";
import { invalidRequest } from "../../../kernel/faults.ts";
import { toDeleted, toListBody } from "../../../wire/openai/organization/organization-list.ts";
import { toUser, UserListQuery, UserUpdateBody } from "../../../wire/openai/organization/organization-users.ts";
import { deleted } from "../../../wire/openapi/list-answers.ts";
import { User, UserList } from "../../../wire/openapi/people-answers.ts";
import type { Accounts } from "../accounts.ts";
import type { OrganizationRole } from "../people-rows.ts";
import { ORGANIZATION_ROLE_IDS } from "../roles/built-in-roles.ts";
import { authorOf } from "../roles/may-grant.ts";
import type { UserReference } from "./user-queries.ts";

interface OfUser {
  Params: { user: string };
}

/** /v1/organization/users */
export function users(accounts: Accounts): FastifyPluginAsync {
  return routes(
    operation(
      "GET /users",
      {
        summary: "Lists the users, oldest first; takes `search`, which is not in OpenAI's API.",
        tag: "People",
        permission: "admin",
        requires: "organization.users.read",
        query: UserListQuery,
        answer: UserList,
      },
      async ({ query: { emails, "emails[]": more, search, ...page }, caller }) => {
        const { organizationId } = caller;
        const filter = { emails: emails ?? more, search };
        return toListBody(await accounts.users.list(organizationId, filter, { ...page, order: "asc" }), toUser);
      },
    ),
    operation(
      "GET /users/:user",
      {
        summary: "Retrieves a user; every user may retrieve their own.",
        tag: "People",
        permission: "admin",
        requires: "organization.users.read",
        requiresOfSelf: "signed-in",
        answer: User,
      },
      async ({ request }) => toUser(await accounts.users.retrieve(userOf(request))),
    ),
    operation(
      "POST /users/:user",
      {
        grants: "access",
        summary:
          "Changes a user's role; takes `name` and `disabled`, which are not in OpenAI's API. The last owner stays an owner.",
        tag: "People",
        permission: "admin",
        requires: "organization.users.write",
        body: UserUpdateBody,
        answer: User,
      },
      async ({ body, request }) => {
        const { name, disabled: isDisabled } = body;
        const role = body.role ?? roleOf(body.role_id ?? undefined);
        return toUser(await accounts.users.update(authorOf(request), userOf(request), { name, isDisabled, role }));
      },
    ),
    operation(
      "DELETE /users/:user",
      {
        grants: "access",
        summary: "Removes a user and revokes the user's keys; every user may leave. The last owner cannot.",
        tag: "People",
        permission: "admin",
        requires: "organization.users.write",
        requiresOfSelf: "signed-in",
        answer: deleted("organization.user.deleted"),
      },
      async ({ params, request }) => {
        await accounts.users.remove(authorOf(request), userOf(request));
        return toDeleted("organization.user", params.user);
      },
    ),
  );
}

function userOf(request: FastifyRequest<OfUser>): UserReference {
  return { organizationId: request.caller.organizationId, id: request.params.user };
}

function roleOf(id: string | undefined): OrganizationRole | undefined {
  if (id === undefined) return undefined;
  const role = (["owner", "member", "reader"] as const).find((each) => ORGANIZATION_ROLE_IDS[each] === id);
  if (role !== undefined) return role;
  const message =
    "'role_id' must be the ID of a built-in role of the organization. Assign custom roles with POST /v1/organization/users/{user}/roles.";
  throw invalidRequest(message, "role_id", "invalid_value");
}
