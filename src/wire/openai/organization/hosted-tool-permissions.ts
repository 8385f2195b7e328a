/** Which tools that run at the service, an upstream or an MCP server a project may use. */

import { z } from "zod";
import { lazy } from "../../../kernel/lazy.ts";
import { type AnswerOf, named } from "../../openapi/named.ts";

export const HOSTED_TOOLS = ["code_interpreter", "file_search", "image_generation", "mcp", "web_search"] as const;

export type HostedTool = (typeof HOSTED_TOOLS)[number];

/** Whether each tool is enabled; one that is left out is. */
export const HostedToolSettings = z.partialRecord(z.enum(HOSTED_TOOLS), z.boolean());
export type HostedToolSettings = Readonly<z.output<typeof HostedToolSettings>>;

const update = z.strictObject({ enabled: z.boolean() }).nullish().describe("Left out or null: as before.");

export const HostedToolPermissionsBody = named(
  "HostedToolPermissionsBody",
  lazy.strictObject(() => ({
    code_interpreter: update,
    file_search: update,
    image_generation: update,
    mcp: update,
    web_search: update,
  })),
);

const permission = z.object({ enabled: z.boolean() });

export const HostedToolPermissions = named(
  "HostedToolPermissions",
  lazy.object(() => ({
    code_interpreter: permission,
    file_search: permission,
    image_generation: permission,
    mcp: permission,
    web_search: permission,
  })),
);

export function toHostedToolSettings(body: z.output<typeof HostedToolPermissionsBody>): HostedToolSettings {
  return Object.fromEntries(Object.entries(body).flatMap(([tool, value]) => (value ? [[tool, value.enabled]] : [])));
}

export function toHostedToolPermissions(settings: HostedToolSettings): AnswerOf<typeof HostedToolPermissions> {
  const enabled = (tool: HostedTool) => ({ enabled: settings[tool] !== false });
  return {
    code_interpreter: enabled("code_interpreter"),
    file_search: enabled("file_search"),
    image_generation: enabled("image_generation"),
    mcp: enabled("mcp"),
    web_search: enabled("web_search"),
  };
}

/** By the beginning of a tool's type, in the formats of OpenAI and Anthropic, with and without a date. */
const TYPES: Readonly<Record<string, HostedTool>> = {
  browser_search: "web_search",
  code_execution: "code_interpreter",
  code_interpreter: "code_interpreter",
  file_search: "file_search",
  image_generation: "image_generation",
  mcp: "mcp",
  web_fetch: "web_search",
  web_search: "web_search",
  x_search: "web_search",
};

/** Returns the hosted tool that a tool of a request is; undefined: the caller runs it. */
export function hostedToolOf(tool: { type?: unknown; environment?: unknown }): HostedTool | undefined {
  // OpenRouter's have its name before them.
  const type = String(tool.type).replace(/^openrouter:/, "");
  // A shell runs at the caller unless it is that of a container.
  if (type === "shell") return isContainer(tool.environment) ? "code_interpreter" : undefined;
  const name = Object.keys(TYPES).find((each) => type === each || type.startsWith(`${each}_`));
  return name === undefined ? undefined : TYPES[name];
}

function isContainer(environment: unknown): boolean {
  const { type } = (environment ?? {}) as { type?: unknown };
  return typeof type === "string" && type.startsWith("container");
}

/** A hosted tool of a body, and the field that asks for it. */
export interface RequestedTool {
  tool: HostedTool;
  param: string;
}

/** Returns the hosted tools that a body asks an upstream for, in any format that is forwarded. */
export function requestedTools(body: Readonly<Record<string, unknown>>): RequestedTool[] {
  const { tools, input, plugins, mcp_servers: servers, web_search_options: options, search_parameters: search } = body;
  const items = listOf(input).flatMap((item, index) => toolsIn(item.tools, `input[${index}].tools`));
  const plugged = listOf(plugins).flatMap(({ id }, index) =>
    id === "web" ? [{ tool: "web_search" as const, param: `plugins[${index}]` }] : [],
  );
  return [
    ...toolsIn(tools, "tools"),
    ...items,
    ...plugged,
    ...(listOf(servers).length > 0 ? [{ tool: "mcp" as const, param: "mcp_servers" }] : []),
    ...(options == null ? [] : [{ tool: "web_search" as const, param: "web_search_options" }]),
    // xAI's, whose mode `off` is as good as none.
    ...(search == null || (search as { mode?: unknown }).mode === "off"
      ? []
      : [{ tool: "web_search" as const, param: "search_parameters" }]),
  ];
}

function toolsIn(tools: unknown, path: string): RequestedTool[] {
  return listOf(tools).flatMap((each, index) => {
    const tool = hostedToolOf(each);
    return tool === undefined ? [] : [{ tool, param: `${path}[${index}].type` }];
  });
}

function listOf(value: unknown): Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "object" && each !== null) : [];
}
