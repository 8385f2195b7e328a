import type { FastifyPluginAsync, FastifyRequest } from "fastify";
import { operation, routes } from "../../../http/operation.ts";
import {
  refuseScopes,
  ServiceAccountKeyCreateBody,
  ServiceAccountKeyListQuery,
  toCreatedServiceAccountKey,
} from "../../../wire/openai/organization/organization-api-keys.ts";
import { CreatedKey, ProjectApiKeyList } from "../../../wire/openapi/organization-answers.ts";
import type { Accounts } from "../accounts.ts";
import { authorOf } from "../roles/may-grant.ts";
import type { OfServiceAccount } from "../service-accounts/service-account-routes.ts";
import { toProjectKeyList } from "./project-key-routes.ts";

const PATH = "/projects/:project/service_accounts/:account/api_keys";

/** /v1/organization/projects/{project}/service_accounts/{account}/api_keys */
export function serviceAccountKeys(accounts: Accounts): FastifyPluginAsync {
  return routes(
    operation(
      `POST ${PATH}`,
      {
        grants: "credential",
        summary: "Creates a key; takes `name` and `expires_in_seconds`. The key is shown once.",
        tag: "Projects",
        permission: "admin",
        requires: "project.keys.write",
        body: ServiceAccountKeyCreateBody,
        isBodyOptional: true,
        answer: CreatedKey,
      },
      async ({ body, request }) => {
        refuseScopes(body);
        const created = await accounts.apiKeys.create(authorOf(request), {
          scope: scopeOf(request),
          name: body.name ?? "API key",
          expiresInSeconds: body.expires_in_seconds ?? undefined,
        });
        return toCreatedServiceAccountKey(created);
      },
    ),
    operation(
      `GET ${PATH}`,
      {
        summary: "Lists the keys of a service account. Not in OpenAI's API.",
        tag: "Projects",
        permission: "admin",
        requires: "project.keys.read",
        query: ServiceAccountKeyListQuery,
        answer: ProjectApiKeyList,
      },
      async ({ query: { search, ...page }, request }) => {
        return toProjectKeyList(accounts, await accounts.apiKeys.list(scopeOf(request), page, search));
      },
    ),
  );
}

function scopeOf(request: FastifyRequest<OfServiceAccount>) {
  const { project, account } = request.params;
  const { organizationId } = request.caller;
  return { organizationId, projectId: project, serviceAccountId: account, kind: "project" } as const;
}
