/** What a server offers: its lists. */

import type {
  Client,
  Prompt as McpPrompt,
  Resource as McpResource,
  ResourceTemplateType as McpResourceTemplate,
  Tool as McpTool,
  RequestOptions,
} from "@modelcontextprotocol/client";
import { MAX_MCP_TOOLS } from "../../wire/responses/service-items.ts";

export type { McpTool };

export interface McpOffer {
  tools: readonly McpTool[];
  prompts: readonly McpPrompt[];
  resources: readonly McpResource[];
  templates: readonly McpResourceTemplate[];
}

export type OfferKind = keyof McpOffer;

/** Entries of each list of a server: a request continues from a list of its tools. */
const MAX_ENTRIES = MAX_MCP_TOOLS;

type List<Kind extends OfferKind> = (client: Client, options: RequestOptions) => Promise<McpOffer[Kind]>;

const LISTS: { readonly [Kind in OfferKind]: List<Kind> } = {
  tools: async (client, options) => (await client.listTools(undefined, options)).tools,
  prompts: async (client, options) => (await client.listPrompts(undefined, options)).prompts,
  resources: async (client, options) => (await client.listResources(undefined, options)).resources,
  templates: async (client, options) => (await client.listResourceTemplates(undefined, options)).resourceTemplates,
};

/** Returns a complete list, which is empty where the server does not have its kind. Throws for a list that is too long. */
export async function readOffer<Kind extends OfferKind>(
  kind: Kind,
  client: Client,
  options: RequestOptions,
): Promise<McpOffer[Kind]> {
  const capability = kind === "templates" ? "resources" : (kind as Exclude<OfferKind, "templates">);
  if (client.getServerCapabilities()?.[capability] === undefined) return [] as unknown as McpOffer[Kind];
  const entries = await LISTS[kind](client, options);
  if (entries.length <= MAX_ENTRIES) return entries;
  throw new Error(`It has ${entries.length} ${kind}; the limit is ${MAX_ENTRIES}.`);
}
