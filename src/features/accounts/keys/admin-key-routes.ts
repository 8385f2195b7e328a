import type { FastifyPluginAsync, FastifyRequest } from "fastify";
import { operation } from "../../../http/operation.ts";
import {
  AdminApiKeyCreateBody,
  AdminApiKeyListQuery,
  toAdminApiKey,
  toCreatedAdminApiKey,
} from "../../../wire/openai/organization/organization-api-keys.ts";
import { toDeleted, toListBody } from "../../../wire/openai/organization/organization-list.ts";
import { parse } from "../../../wire/openai/validate.ts";
import {
  AdminApiKey,
  AdminApiKeyList,
  CreatedAdminApiKey,
  deleted,
} from "../../../wire/openapi/organization-answers.ts";
import type { Accounts } from "../accounts.ts";
import { actorOf } from "../audit/actor.ts";

interface OfKey {
  Params: { key: string };
}

/** /v1/organization/admin_api_keys */
export function adminApiKeys(accounts: Accounts): FastifyPluginAsync {
  return async (app) => {
    app.post(
      "/admin_api_keys",
      operation({
        summary: "Creates an admin key, shown once.",
        tag: "Organization",
        permission: "admin",
        requires: "organization.admin_keys.write",
        body: AdminApiKeyCreateBody,
        answer: CreatedAdminApiKey,
      }),
      async (request) => {
        const { name, expires_in_seconds } = parse(AdminApiKeyCreateBody, request.body);
        const newKey = { scope: scopeOf(request), name, expiresInSeconds: expires_in_seconds ?? undefined };
        return toCreatedAdminApiKey(await accounts.apiKeys.create(actorOf(request), newKey));
      },
    );

    app.get(
      "/admin_api_keys",
      operation({
        summary: "Lists the admin keys.",
        tag: "Organization",
        permission: "admin",
        requires: "organization.admin_keys.read",
        query: AdminApiKeyListQuery,
        answer: AdminApiKeyList,
      }),
      async (request) => {
        const { after, search, ...page } = parse(AdminApiKeyListQuery, request.query);
        const keys = await accounts.apiKeys.list(scopeOf(request), { ...page, after: after || undefined }, search);
        return toListBody(keys, toAdminApiKey);
      },
    );

    app.get<OfKey>(
      "/admin_api_keys/:key",
      operation({
        summary: "Retrieves an admin key.",
        tag: "Organization",
        permission: "admin",
        requires: "organization.admin_keys.read",
        answer: AdminApiKey,
      }),
      async (request) => {
        return toAdminApiKey(await accounts.apiKeys.retrieve(scopeOf(request), request.params.key));
      },
    );

    app.delete<OfKey>(
      "/admin_api_keys/:key",
      operation({
        summary: "Revokes an admin key.",
        tag: "Organization",
        permission: "admin",
        requires: "organization.admin_keys.write",
        answer: deleted("organization.admin_api_key.deleted"),
      }),
      async (request) => {
        await accounts.apiKeys.revoke(actorOf(request), scopeOf(request), request.params.key);
        return toDeleted("organization.admin_api_key", request.params.key);
      },
    );
  };
}

function scopeOf(request: FastifyRequest) {
  return { organizationId: request.caller.organizationId, kind: "admin" } as const;
}
