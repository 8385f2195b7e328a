import type { FastifyPluginAsync, FastifyRequest } from "fastify";
import { allows } from "../../../http/access.ts";
import { operation, routes } from "../../../http/operation.ts";
import { invalidRequest } from "../../../kernel/faults.ts";
import {
  ProjectApiKeyCreateBody,
  ProjectApiKeyListQuery,
  ProjectApiKeyRotateBody,
  ProjectApiKeyUpdateBody,
  refuseScopes,
  toCreatedProjectApiKey,
  toProjectApiKey,
} from "../../../wire/openai/organization/organization-api-keys.ts";
import { toDeleted, toListBody } from "../../../wire/openai/organization/organization-list.ts";
import { deleted } from "../../../wire/openapi/list-answers.ts";
import { CreatedProjectApiKey, ProjectApiKey, ProjectApiKeyList } from "../../../wire/openapi/organization-answers.ts";
import type { Accounts } from "../accounts.ts";
import { actorOf } from "../audit/actor.ts";
import type { UserRow } from "../people-rows.ts";
import { authorOf } from "../roles/may-grant.ts";
import type { ServiceAccount } from "../service-accounts/service-accounts.ts";
import type { ApiKey } from "./store-api-key.ts";

interface OfProject {
  Params: { project: string };
}

/** /v1/organization/projects/{project}/api_keys */
export function projectApiKeys(accounts: Accounts): FastifyPluginAsync {
  return routes(
    operation(
      "GET /projects/:project/api_keys",
      {
        summary: "Lists the keys of a project; takes `search` and `order`, which are not in OpenAI's API.",
        tag: "Projects",
        permission: "admin",
        requires: ["project.keys.read", "project.own_keys.write"],
        query: ProjectApiKeyListQuery,
        answer: ProjectApiKeyList,
      },
      async ({ query: { owner_project_access, search, ...page }, request }) => {
        const keys = await accounts.apiKeys.list(scopeOf(request, "project.keys.read"), page, search);
        // Deleting an account revokes its keys, so every owner of a key has access.
        if (owner_project_access === "inactive") return toListBody({ entries: [], hasMore: false }, shownAlone);
        return toProjectKeyList(accounts, keys);
      },
    ),
    operation(
      "POST /projects/:project/api_keys",
      {
        grants: "credential",
        summary:
          "Creates a key, shown once: for a user their own, with an admin key one without an owner. Not in OpenAI's API.",
        tag: "Projects",
        permission: "admin",
        requires: "project.own_keys.write",
        body: ProjectApiKeyCreateBody,
        answer: CreatedProjectApiKey,
      },
      async ({ body: { name, expires_in_seconds }, caller, request }) => {
        const scope = { ...scopeOf(request, "project.keys.write"), userId: caller.userId };
        const newKey = { scope, name, expiresInSeconds: expires_in_seconds ?? undefined };
        const created = await accounts.apiKeys.create(authorOf(request), newKey);
        return toCreatedProjectApiKey(created, (await ownersOf(accounts, [created.key]))(created.key));
      },
    ),
    operation(
      "GET /projects/:project/api_keys/:key",
      {
        summary: "Retrieves a key.",
        tag: "Projects",
        permission: "admin",
        requires: ["project.keys.read", "project.own_keys.write"],
        answer: ProjectApiKey,
      },
      async ({ params, request }) => {
        return toShown(accounts, await accounts.apiKeys.retrieve(scopeOf(request, "project.keys.read"), params.key));
      },
    ),
    operation(
      "POST /projects/:project/api_keys/:key",
      {
        grants: "credential",
        summary:
          "Sets when a key expires; takes `expires_in_seconds`, null for never, and `name`, which is not in OpenAI's API.",
        tag: "Projects",
        permission: "admin",
        requires: ["project.keys.write", "project.own_keys.write"],
        body: ProjectApiKeyUpdateBody,
        answer: ProjectApiKey,
      },
      async ({ params, body, request }) => {
        refuseScopes(body);
        const seconds = body.expires_in_seconds;
        const { key } = params;
        if (body.name !== undefined) {
          await accounts.apiKeys.rename(actorOf(request), scopeOf(request, "project.keys.write"), key, body.name);
        }
        if (seconds !== undefined) {
          return toShown(
            accounts,
            await accounts.apiKeys.setExpiry(authorOf(request), scopeOf(request, "project.keys.write"), key, seconds),
          );
        }
        if (body.scopes === undefined && body.name === undefined) {
          throw invalidRequest(
            "Nothing to change was given: set 'expires_in_seconds' or 'name'.",
            "expires_in_seconds",
          );
        }
        // Empty scopes remove a key's restrictions, which Parlance's keys never have.
        return toShown(accounts, await accounts.apiKeys.retrieve(scopeOf(request, "project.keys.write"), key));
      },
    ),
    operation(
      "POST /projects/:project/api_keys/:key/rotate",
      {
        grants: "credential",
        summary:
          "Replaces a key by another one, shown once; the old one works for `overlap_seconds`, by default a day. Not in OpenAI's API.",
        tag: "Projects",
        permission: "admin",
        requires: ["project.keys.write", "project.own_keys.write"],
        body: ProjectApiKeyRotateBody,
        isBodyOptional: true,
        answer: CreatedProjectApiKey,
      },
      async ({ params, body: { overlap_seconds }, request }) => {
        const scope = scopeOf(request, "project.keys.write");
        const { key } = params;
        const created = await accounts.apiKeys.rotate(authorOf(request), scope, key, overlap_seconds);
        return toCreatedProjectApiKey(created, (await ownersOf(accounts, [created.key]))(created.key));
      },
    ),
    operation(
      "DELETE /projects/:project/api_keys/:key",
      {
        summary: "Revokes a key.",
        tag: "Projects",
        permission: "admin",
        requires: ["project.keys.write", "project.own_keys.write"],
        answer: deleted("organization.project.api_key.deleted"),
      },
      async ({ params, request }) => {
        await accounts.apiKeys.revoke(actorOf(request), scopeOf(request, "project.keys.write"), params.key);
        return toDeleted("organization.project.api_key", params.key);
      },
    ),
  );
}

export async function toProjectKeyList(accounts: Accounts, page: { entries: readonly ApiKey[]; hasMore: boolean }) {
  const ownerOf = await ownersOf(accounts, page.entries);
  return toListBody(page, (key) => toProjectApiKey(key, ownerOf(key)));
}

/** Looks up the users and service accounts to whom keys belong. */
async function ownersOf(
  accounts: Accounts,
  keys: readonly ApiKey[],
): Promise<(key: ApiKey) => ServiceAccount | UserRow | undefined> {
  const serviceAccounts = await accounts.serviceAccounts.retrieveMany(
    keys.flatMap((key) => key.serviceAccountId ?? []),
  );
  const users = await accounts.users.retrieveMany(keys.flatMap((key) => key.userId ?? []));
  return ({ userId, serviceAccountId }) => users.get(userId ?? "") ?? serviceAccounts.get(serviceAccountId ?? "");
}

async function toShown(accounts: Accounts, key: ApiKey) {
  const ownerOf = await ownersOf(accounts, [key]);
  return toProjectApiKey(key, ownerOf(key));
}

function shownAlone(key: ApiKey) {
  return toProjectApiKey(key, undefined);
}

/** Keys of the project, or those of the user who may not see the keys of others. */
function scopeOf(request: FastifyRequest<OfProject>, permission: "project.keys.read" | "project.keys.write") {
  const { organizationId, access, userId } = request.caller;
  const { project } = request.params;
  const scope = { organizationId, projectId: project, kind: "project" } as const;
  return allows(access, permission, project) || userId === undefined ? scope : { ...scope, userId };
}
