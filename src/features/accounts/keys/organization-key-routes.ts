import type { FastifyPluginAsync } from "fastify";
import { operation, routes } from "../../../http/operation.ts";
import {
  OrganizationApiKeyListQuery,
  toOrganizationApiKey,
} from "../../../wire/openai/organization/organization-api-keys.ts";
import { toListBody } from "../../../wire/openai/organization/organization-list.ts";
import { OrganizationApiKeyList } from "../../../wire/openapi/organization-answers.ts";
import type { Accounts } from "../accounts.ts";

/** /v1/organization/api_keys */
export function organizationApiKeys(accounts: Accounts): FastifyPluginAsync {
  return routes(
    operation(
      "GET /api_keys",
      {
        summary: "Lists the keys of all projects and the admin keys. Not in OpenAI's API.",
        tag: "Organization",
        permission: "admin",
        requires: "project.keys.read",
        query: OrganizationApiKeyListQuery,
        answer: OrganizationApiKeyList,
      },
      async ({ query: { kind, project_id: projectId, search, ...page }, caller }) => {
        const { organizationId } = caller;
        const keys = await accounts.apiKeys.listAll(organizationId, { kind, projectId, search }, page);
        return toListBody(keys, toOrganizationApiKey);
      },
    ),
  );
}
