import type { FastifyPluginAsync, FastifyRequest } from "fastify";
import { allows } from "../../../http/access.ts";
import { operation } from "../../../http/operation.ts";
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
import { parse } from "../../../wire/openai/validate.ts";
import {
  CreatedProjectApiKey,
  deleted,
  ProjectApiKey,
  ProjectApiKeyList,
} from "../../../wire/openapi/organization-answers.ts";
import type { Accounts } from "../accounts.ts";
import { actorOf } from "../audit/actor.ts";
import type { UserRow } from "../people-rows.ts";
import { authorOf } from "../roles/may-grant.ts";
import type { ServiceAccount } from "../service-accounts/service-accounts.ts";
import type { ApiKey } from "./api-keys.ts";

interface OfProject {
  Params: { project: string };
}

interface OfKey {
  Params: { project: string; key: string };
}

/** /v1/organization/projects/{project}/api_keys */
export function projectApiKeys(accounts: Accounts): FastifyPluginAsync {
  return async (app) => {
    app.get<OfProject>(
      "/projects/:project/api_keys",
      operation({
        summary: "Lists the keys of a project; takes `search` and `order`, which are not in OpenAI's API.",
        tag: "Projects",
        permission: "admin",
        requires: ["project.keys.read", "project.own_keys.write"],
        query: ProjectApiKeyListQuery,
        answer: ProjectApiKeyList,
      }),
      async (request) => {
        const { owner_project_access, search, ...page } = parse(ProjectApiKeyListQuery, request.query);
        const keys = await accounts.apiKeys.list(scopeOf(request, "project.keys.read"), page, search);
        // Deleting an account revokes its keys, so every owner of a key has access.
        if (owner_project_access === "inactive") return toListBody({ entries: [], hasMore: false }, shownAlone);
        return toProjectKeyList(accounts, keys);
      },
    );

    app.post<OfProject>(
      "/projects/:project/api_keys",
      operation({
        grants: "credential",
        summary:
          "Creates a key, shown once: for a user their own, with an admin key one without an owner. Not in OpenAI's API.",
        tag: "Projects",
        permission: "admin",
        requires: "project.own_keys.write",
        body: ProjectApiKeyCreateBody,
        answer: CreatedProjectApiKey,
      }),
      async (request) => {
        const { name, expires_in_seconds } = parse(ProjectApiKeyCreateBody, request.body);
        const scope = { ...scopeOf(request, "project.keys.write"), userId: request.caller.userId };
        const newKey = { scope, name, expiresInSeconds: expires_in_seconds ?? undefined };
        const created = await accounts.apiKeys.create(authorOf(request), newKey);
        return toCreatedProjectApiKey(created, (await ownersOf(accounts, [created.key]))(created.key));
      },
    );

    app.get<OfKey>(
      "/projects/:project/api_keys/:key",
      operation({
        summary: "Retrieves a key.",
        tag: "Projects",
        permission: "admin",
        requires: ["project.keys.read", "project.own_keys.write"],
        answer: ProjectApiKey,
      }),
      async (request) => {
        return toShown(
          accounts,
          await accounts.apiKeys.retrieve(scopeOf(request, "project.keys.read"), request.params.key),
        );
      },
    );

    app.post<OfKey>(
      "/projects/:project/api_keys/:key",
      operation({
        grants: "credential",
        summary:
          "Sets when a key expires; takes `expires_in_seconds`, null for never, and `name`, which is not in OpenAI's API.",
        tag: "Projects",
        permission: "admin",
        requires: ["project.keys.write", "project.own_keys.write"],
        body: ProjectApiKeyUpdateBody,
        answer: ProjectApiKey,
      }),
      async (request) => {
        const body = parse(ProjectApiKeyUpdateBody, request.body);
        refuseScopes(body);
        const seconds = body.expires_in_seconds;
        const { key } = request.params;
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
    );

    app.post<OfKey>(
      "/projects/:project/api_keys/:key/rotate",
      operation({
        grants: "credential",
        summary:
          "Replaces a key by another one, shown once; the old one works for `overlap_seconds`, by default a day. Not in OpenAI's API.",
        tag: "Projects",
        permission: "admin",
        requires: ["project.keys.write", "project.own_keys.write"],
        body: ProjectApiKeyRotateBody,
        isBodyOptional: true,
        answer: CreatedProjectApiKey,
      }),
      async (request) => {
        const { overlap_seconds } = parse(ProjectApiKeyRotateBody, request.body ?? {});
        const scope = scopeOf(request, "project.keys.write");
        const { key } = request.params;
        const created = await accounts.apiKeys.rotate(authorOf(request), scope, key, overlap_seconds);
        return toCreatedProjectApiKey(created, (await ownersOf(accounts, [created.key]))(created.key));
      },
    );

    app.delete<OfKey>(
      "/projects/:project/api_keys/:key",
      operation({
        summary: "Revokes a key.",
        tag: "Projects",
        permission: "admin",
        requires: ["project.keys.write", "project.own_keys.write"],
        answer: deleted("organization.project.api_key.deleted"),
      }),
      async (request) => {
        await accounts.apiKeys.revoke(actorOf(request), scopeOf(request, "project.keys.write"), request.params.key);
        return toDeleted("organization.project.api_key", request.params.key);
      },
    );
  };
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
  const list = await toProjectKeyList(accounts, { entries: [key], hasMore: false });
  return list.data[0];
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
