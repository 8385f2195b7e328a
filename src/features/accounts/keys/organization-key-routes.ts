import type { FastifyPluginAsync } from "fastify";
import { operation } from "../../../http/operation.ts";
import {
  OrganizationApiKeyListQuery,
  toOrganizationApiKey,
} from "../../../wire/openai/organization/organization-api-keys.ts";
import { toListBody } from "../../../wire/openai/organization/organization-list.ts";
import { parse } from "../../../wire/openai/validate.ts";
import { OrganizationApiKeyList } from "../../../wire/openapi/organization-answers.ts";
import type { Accounts } from "../accounts.ts";

/** /v1/organization/api_keys */
export function organizationApiKeys(accounts: Accounts): FastifyPluginAsync {
  return async (app) => {
    app.get(
      "/api_keys",
      operation({
        summary: "Lists the keys of all projects and the admin keys. Not in OpenAI's API.",
        tag: "Organization",
        permission: "admin",
        requires: "project.keys.read",
        query: OrganizationApiKeyListQuery,
        answer: OrganizationApiKeyList,
      }),
      async (request) => {
        const { kind, project_id: projectId, search, ...page } = parse(OrganizationApiKeyListQuery, request.query);
        const { organizationId } = request.caller;
        const keys = await accounts.apiKeys.listAll(organizationId, { kind, projectId, search }, page);
        return toListBody(keys, toOrganizationApiKey);
      },
    );
  };
}
