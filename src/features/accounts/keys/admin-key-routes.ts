import type { FastifyPluginAsync, FastifyRequest } from "fastify";
import { operation, routes } from "../../../http/operation.ts";
import {
  AdminApiKeyCreateBody,
  AdminApiKeyListQuery,
  toAdminApiKey,
  toCreatedAdminApiKey,
} from "../../../wire/openai/organization/organization-api-keys.ts";
import { toDeleted, toListBody } from "../../../wire/openai/organization/organization-list.ts";
import { deleted } from "../../../wire/openapi/list-answers.ts";
import { AdminApiKey, AdminApiKeyList, CreatedAdminApiKey } from "../../../wire/openapi/organization-answers.ts";
import type { Accounts } from "../accounts.ts";
import { actorOf } from "../audit/actor.ts";
import { authorOf } from "../roles/may-grant.ts";
import type { ApiKey } from "./store-api-key.ts";

/** /v1/organization/admin_api_keys */
export function adminApiKeys(accounts: Accounts): FastifyPluginAsync {
  return routes(
    operation(
      "POST /admin_api_keys",
      {
        grants: "credential",
        summary:
          "Creates an admin key, shown once. A user's key belongs to the user and allows what the user may do. Takes `permissions`, which is not in OpenAI's API.",
        tag: "Organization",
        permission: "admin",
        requires: "organization.admin_keys.write",
        body: AdminApiKeyCreateBody,
        answer: CreatedAdminApiKey,
      },
      async ({ body, caller, request }) => {
        const permissions = body.permissions ?? undefined;
        const { userId } = caller;
        const kind = permissions === undefined ? ("admin" as const) : ("restricted" as const);
        const scope = { ...scopeOf(request), kind, userId };
        const newKey = { scope, name: body.name, expiresInSeconds: body.expires_in_seconds ?? undefined, permissions };
        const created = await accounts.apiKeys.create(authorOf(request), newKey);
        return toCreatedAdminApiKey(created, (await usersOf(accounts, [created.key])).get(created.key.userId ?? ""));
      },
    ),
    operation(
      "GET /admin_api_keys",
      {
        summary: "Lists the admin keys.",
        tag: "Organization",
        permission: "admin",
        requires: "organization.admin_keys.read",
        query: AdminApiKeyListQuery,
        answer: AdminApiKeyList,
      },
      async ({ query: { after, search, ...page }, request }) => {
        const keys = await accounts.apiKeys.list(scopeOf(request), { ...page, after: after || undefined }, search);
        const users = await usersOf(accounts, keys.entries);
        return toListBody(keys, (key) => toAdminApiKey(key, users.get(key.userId ?? "")));
      },
    ),
    operation(
      "GET /admin_api_keys/:key",
      {
        summary: "Retrieves an admin key.",
        tag: "Organization",
        permission: "admin",
        requires: "organization.admin_keys.read",
        answer: AdminApiKey,
      },
      async ({ params, request }) => {
        const key = await accounts.apiKeys.retrieve(scopeOf(request), params.key);
        return toAdminApiKey(key, (await usersOf(accounts, [key])).get(key.userId ?? ""));
      },
    ),
    operation(
      "DELETE /admin_api_keys/:key",
      {
        summary: "Revokes an admin key.",
        tag: "Organization",
        permission: "admin",
        requires: "organization.admin_keys.write",
        answer: deleted("organization.admin_api_key.deleted"),
      },
      async ({ params, request }) => {
        await accounts.apiKeys.revoke(actorOf(request), scopeOf(request), params.key);
        return toDeleted("organization.admin_api_key", params.key);
      },
    ),
  );
}

/** Users to whom keys belong, by ID. */
async function usersOf(accounts: Accounts, keys: readonly ApiKey[]) {
  return accounts.users.retrieveMany(keys.flatMap(({ userId }) => userId ?? []));
}

function scopeOf(request: FastifyRequest) {
  return { organizationId: request.caller.organizationId, kind: "admin" } as const;
}
