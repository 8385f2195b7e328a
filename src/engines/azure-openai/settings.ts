/** Settings of a deployment of this engine. */

import { z } from "zod";
import type { Secret } from "../../kernel/secret.ts";
import { CONNECTION_FIELDS, secret, toUpstreamSettings } from "../native-upstream/native-settings.ts";
import { baseUrl } from "../openai-compatible/connection-settings.ts";
import { type OpenAiCompatibleSettings, openAiCompatibleSettings } from "../openai-compatible/settings.ts";

const GUID_OR_DOMAIN = /^[\w.-]+$/;

const entraId = z
  .strictObject({
    tenant_id: z.string().regex(GUID_OR_DOMAIN, { error: "is not the ID of a tenant" }).describe("ID of the tenant"),
    client_id: z.string().min(1).describe("ID of the application"),
    client_secret: secret.describe("Secret of the application"),
    authority: baseUrl
      .default("https://login.microsoftonline.com")
      .describe("Address of Entra ID. Default: https://login.microsoftonline.com"),
    scope: z
      .string()
      .min(1)
      .default("https://cognitiveservices.azure.com/.default")
      .describe("Scope of the access tokens"),
  })
  .transform((value) => ({
    tenantId: value.tenant_id,
    clientId: value.client_id,
    clientSecret: value.client_secret,
    authority: value.authority,
    scope: value.scope,
  }));

export const azureOpenAiSettings = z
  .strictObject({
    resource: z
      .string()
      .regex(/^[a-z0-9-]+$/i, { error: "is not the name of a resource, such as my-resource" })
      .optional()
      .describe("Name of the resource, the first part of its address"),
    base_url: baseUrl
      .optional()
      .describe("Address of the resource in place of `resource`, such as https://my-resource.openai.azure.com"),
    api_version: z
      .string()
      .regex(/^[\w.-]+$/)
      .optional()
      .describe(
        "Version of the API by deployments, such as 2024-10-21. Default: the v1 API, which has no versions and has the Responses API",
      ),
    api_key: secret.optional().describe("API key, sent as api-key"),
    entra_id: entraId
      .optional()
      .describe("Application in Entra ID in place of `api_key`. Access tokens are renewed before they expire"),
    ...CONNECTION_FIELDS,
    model: z.string().min(1).optional().describe("Name of the deployment at Azure. Default: the catalog ID"),
    abilities: openAiCompatibleSettings.in.shape.abilities.describe(
      "Capabilities of a chat model. false: requests that need it get a 400. Default: unknown; requests are forwarded",
    ),
  })
  .refine((value) => (value.resource === undefined) !== (value.base_url === undefined), {
    path: ["resource"],
    error: "needs either resource or base_url",
  })
  .refine((value) => value.api_version === undefined || value.model !== undefined, {
    path: ["model"],
    error: "is the name of the deployment at Azure, which api_version needs",
  })
  .refine((value) => value.api_key === undefined || value.entra_id === undefined, {
    path: ["entra_id"],
    error: "cannot be set together with api_key",
  })
  .transform((value): AzureOpenAiSettings => {
    const resource = value.base_url ?? `https://${value.resource}.openai.azure.com`;
    const isV1 = value.api_version === undefined;
    const address = isV1
      ? `${resource}/openai/v1`
      : `${resource}/openai/deployments/${encodeURIComponent(value.model ?? "")}?api-version=${value.api_version}`;
    const connection = toUpstreamSettings(value, {
      baseUrl: address,
      headers: { "api-key": value.api_key },
      probe: isV1,
    });
    return {
      ...connection,
      apiKey: undefined,
      metricsPath: undefined,
      endpoints: undefined,
      abilities: { ...value.abilities, responses: value.abilities.responses ?? isV1 },
      tokenIds: "cl100k_base",
      entraId: value.entra_id,
    };
  });

export interface EntraId {
  tenantId: string;
  clientId: string;
  clientSecret: Secret;
  authority: string;
  scope: string;
}

export interface AzureOpenAiSettings extends OpenAiCompatibleSettings {
  entraId: EntraId | undefined;
}
