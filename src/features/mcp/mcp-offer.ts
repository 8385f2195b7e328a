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

/** Fields by which requests name an entry, which the protocol wants to be unique within a list. */
const IDENTITIES: { readonly [Kind in OfferKind]: (entry: McpOffer[Kind][number]) => string } = {
  tools: ({ name }) => name,
  prompts: ({ name }) => name,
  resources: ({ uri }) => uri,
  templates: ({ uriTemplate }) => uriTemplate,
};

/**
 * Returns a complete list, with the first of entries that a request cannot tell apart; it is empty where the server does
 * not have its kind. Throws for a list that is too long.
 */
export async function readOffer<Kind extends OfferKind>(
  kind: Kind,
  client: Client,
  options: RequestOptions,
): Promise<McpOffer[Kind]> {
  const capability = kind === "templates" ? "resources" : (kind as Exclude<OfferKind, "templates">);
  if (client.getServerCapabilities()?.[capability] === undefined) return [] as unknown as McpOffer[Kind];
  const entries = await LISTS[kind](client, options);
  if (entries.length > MAX_ENTRIES) {
    throw new Error(`It has ${entries.length} ${kind}; the limit is ${MAX_ENTRIES}.`);
  }
  return distinct(kind, entries);
}

function distinct<Kind extends OfferKind>(kind: Kind, entries: McpOffer[Kind]): McpOffer[Kind] {
  const identity = IDENTITIES[kind];
  const seen = new Set<string>();
  const isFirst = (entry: McpOffer[Kind][number]) => seen.size < seen.add(identity(entry)).size;
  return entries.filter(isFirst) as unknown as McpOffer[Kind];
}
