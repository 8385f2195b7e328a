/** `mcp_servers` of a Messages request, its toolsets in `tools`, and the blocks of their calls. */

import { z } from "zod";
import { type Fault, invalidRequest } from "../../kernel/faults.ts";
import { lazy } from "../../kernel/lazy.ts";
import { listOf } from "../../kernel/list-of.ts";
import { repeatedIndex } from "../../kernel/repeated-index.ts";
import { optional } from "../openai/optional.ts";
import type { SentTool } from "../responses/responses-tools.ts";

/** `tool_configuration` is of the beta of 2025-04-04; the one of 2025-11-20 has toolsets. */
const McpServer = lazy.looseObject(() => ({
  type: z.literal("url", { error: "it must be url" }),
  name: z.string().min(1).max(64),
  url: optional(z.string().max(2000)),
  authorization_token: optional(z.string().min(1).max(10_000)),
  tool_configuration: optional(
    z.looseObject({ enabled: optional(z.boolean()), allowed_tools: optional(listOf(z.string()).max(1000)) }),
  ),
}));

export const McpServers = listOf(McpServer).check(({ value, issues }) => {
  const names = value.map(({ name }) => name);
  const index = repeatedIndex(names);
  if (index === -1) return;
  const message = "another server has this name too";
  issues.push({ code: "custom", path: [index, "name"], input: names[index], message });
});

type McpServer = z.output<typeof McpServer>;

const Switch = lazy.looseObject(() => ({ enabled: optional(z.boolean()) }));
const Toolset = lazy.looseObject(() => ({
  mcp_server_name: z.string().min(1),
  default_config: optional(Switch),
  configs: optional(z.record(z.string(), Switch)),
}));

export const MCP_TOOLSET = "mcp_toolset";

type Sent = readonly { type?: string | null | undefined; [field: string]: unknown }[];

/** Renders the servers as the tools of a Responses request. */
export function toServiceTools(servers: readonly McpServer[]): SentTool[] {
  return servers.map(({ name, url, authorization_token: authorization }) => ({
    type: "mcp",
    server_label: name,
    // Typed clients cannot leave the address out.
    ...(url !== undefined && url !== "" && { server_url: url }),
    ...(authorization !== undefined && { authorization }),
    require_approval: "never",
  }));
}

/**
 * Returns whether a tool of a server is enabled, by the toolset that names the server or else by the server's own
 * configuration. Throws a Fault for a toolset without its server, or a second one.
 */
export function enabledTools(servers: readonly McpServer[], tools: Sent): (server: string, tool: string) => boolean {
  const toolsets = new Map<string, z.output<typeof Toolset>>();
  for (const [index, tool] of tools.entries()) {
    if (tool.type !== MCP_TOOLSET) continue;
    const path = `tools[${index}]`;
    const { success, data, error } = Toolset.safeParse(tool);
    if (!success) {
      const [issue] = error.issues;
      const param = [path, ...(issue?.path ?? [])].join(".");
      throw invalidRequest(`Invalid value for '${param}': ${issue?.message ?? "invalid"}.`, param, "invalid_value");
    }
    const { mcp_server_name: name } = data;
    const param = `${path}.mcp_server_name`;
    if (!servers.some((server) => server.name === name)) {
      const message = `Invalid value for '${param}': 'mcp_servers' has no server '${name.slice(0, 100)}'.`;
      throw invalidRequest(message, param, "invalid_value");
    }
    if (toolsets.has(name)) {
      const message = `Invalid value for '${param}': another toolset names this server too.`;
      throw invalidRequest(message, param, "invalid_value");
    }
    toolsets.set(name, data);
  }
  const configurations = new Map(servers.map((server) => [server.name, server.tool_configuration]));
  return (server, tool) => {
    const toolset = toolsets.get(server);
    if (toolset !== undefined) {
      const { configs = {}, default_config: byDefault } = toolset;
      const config = Object.hasOwn(configs, tool) ? configs[tool] : undefined;
      return config?.enabled ?? byDefault?.enabled ?? true;
    }
    const { enabled, allowed_tools: allowed } = configurations.get(server) ?? {};
    return enabled !== false && (allowed === undefined || allowed.includes(tool));
  };
}

/** Fields of the tools that `toServiceTools` returns, by those of `mcp_servers`. */
const FIELDS = { server_url: "url", server_label: "name", authorization: "authorization_token" };

/** Names the fields of `mcp_servers` in a failure that names those of `tools`. */
export function inServers(failure: Fault, create: (message: string, param: string | undefined) => Fault): Fault {
  const rename = (text: string) =>
    Object.entries(FIELDS).reduce(
      (renamed, [field, name]) => renamed.replaceAll(new RegExp(`\\b${field}\\b(?!_)`, "g"), name),
      text.replaceAll(/\btools\[(\d+)\]/g, "mcp_servers[$1]"),
    );
  return create(rename(failure.message), failure.param === undefined ? undefined : rename(failure.param));
}

export const McpToolUse = lazy.looseObject(() => ({
  id: z.string().min(1),
  name: z.string().min(1),
  server_name: z.string().min(1),
  input: z.record(z.string(), z.unknown()),
}));

export const McpToolResult = lazy.looseObject(() => ({
  tool_use_id: z.string().min(1),
  is_error: z.boolean().nullish(),
  content: z.union([z.string(), listOf(z.looseObject({ type: z.string() }))]).nullish(),
}));

/** Returns what a model reads of a result. */
export function textOfMcpResult({ content, is_error: isError }: z.output<typeof McpToolResult>): string {
  const blocks = typeof content === "string" ? [{ text: content }] : (content ?? []);
  const text = blocks.map((block) => ("text" in block ? String(block.text) : "")).join("\n");
  return isError === true ? `The tool failed: ${text}` : text;
}
