/** MCP servers, of the configuration and of the API. */

import { z } from "zod";
import { lazy } from "../../../kernel/lazy.ts";
import { listOfEntries } from "../../openapi/list-answers.ts";
import { type AnswerOf, named } from "../../openapi/named.ts";
import { PAGE_QUERY, toSeconds } from "./organization-list.ts";

/** Era of a protocol version: sessions ended with the first version of 2026. */
const FIRST_STATELESS = "2026-01-01";

const Access = lazy.object(() => ({
  projects: z.array(z.string()).nullable().describe("Null: every project."),
  tools: z.array(z.string()).nullable().describe("Null: all of the server."),
}));

export const McpServer = named(
  "McpServer",
  lazy.object(() => ({
    id: z.string().describe("Name of the server, which requests send as `server_label`."),
    object: z.literal("mcp_server"),
    transport: z.enum(["http", "stdio", "openapi"]).describe("`openapi`: an API whose operations are the tools."),
    status: z
      .enum(["up", "failed", "starting", "needs_account"])
      .describe("Whether it listed its tools when asked last. `needs_account`: the caller has to connect an account."),
    problem: z.string().nullable(),
    checked_at: z.int().nullable(),
    list_ms: z.int().nullable().describe("Time that the last list took."),
    protocol_version: z.string().nullable(),
    protocol_era: z.enum(["sessions", "stateless"]).nullable(),
    software: z.object({ name: z.string(), version: z.string() }).nullable(),
    tool_count: z.int(),
    require_approval: z.enum(["caller", "always"]),
    caller_authorization: z.boolean(),
    oauth: z.boolean().describe("Whether callers connect accounts of the server."),
    settings: z
      .object({
        url: z.string().nullable(),
        openapi: z.string().nullable().describe("Address or path of the OpenAPI document."),
        command: z.string().nullable().describe("The program, without its arguments."),
        headers: z.array(z.string()).describe("Names of the headers that every request has."),
        access: z.array(Access),
        timeout_seconds: z.number(),
        max_result_bytes: z.int(),
        price_per_call: z.string().nullable(),
        prices: z.record(z.string(), z.string()),
      })
      .optional()
      .describe("Set for administrators of the installation."),
  })),
);

export const McpServerTest = named(
  "McpServerTest",
  z.object({
    object: z.literal("organization.mcp_server.test"),
    ok: z.boolean().describe("Whether it listed its tools, or names where accounts of it are connected."),
    problem: z.string().nullable().describe("What to correct."),
    duration_ms: z.int(),
    protocol_version: z.string().nullable(),
    software: z.object({ name: z.string(), version: z.string() }).nullable(),
    tools: z.array(z.object({ name: z.string(), description: z.string().nullable() })),
    authorization_server: z
      .string()
      .nullable()
      .describe("Who issues tokens for accounts of the server; null without `oauth`."),
  }),
);

export const McpServerList = listOfEntries(McpServer);

export const McpServersQuery = z.strictObject(PAGE_QUERY);

interface ServerSettings {
  url?: string | undefined;
  openapi?: string | undefined;
  command?: readonly string[] | undefined;
  headers: Readonly<Record<string, unknown>>;
  access: readonly { projects?: readonly string[] | undefined; tools?: readonly string[] | undefined }[];
  requireApproval: "caller" | "always";
  callerAuthorization: boolean;
  oauth?: object | undefined;
  pricePerCall?: string | undefined;
  prices: Readonly<Record<string, string>>;
  timeoutSeconds: number;
  maxResultSize: number;
}

interface ServerState {
  checkedAt: number | undefined;
  durationMs: number | undefined;
  problem: string | undefined;
  needsAccount?: boolean;
  facts: { protocolVersion: string | undefined; software: { name: string; version: string } | undefined } | undefined;
}

export function toMcpServerTest(
  {
    durationMs,
    problem,
    tools,
    facts,
  }: ServerState & { tools: readonly { name: string; description?: string | undefined }[] },
  authorizationServer: string | undefined,
): AnswerOf<typeof McpServerTest> {
  return {
    object: "organization.mcp_server.test",
    ok: problem === undefined,
    problem: problem ?? null,
    duration_ms: durationMs ?? 0,
    protocol_version: facts?.protocolVersion ?? null,
    software: facts?.software ?? null,
    tools: tools.map(({ name, description }) => ({ name, description: description ?? null })),
    authorization_server: authorizationServer ?? null,
  };
}

interface ShownServer {
  name: string;
  settings: ServerSettings;
  state: ServerState;
  toolCount: number;
}

/** `showsSettings`: for administrators of the installation. */
export function toMcpServer(
  { name, settings, state, toolCount }: ShownServer,
  showsSettings: boolean,
): AnswerOf<typeof McpServer> {
  const { checkedAt, durationMs, problem, needsAccount, facts } = state;
  const checked = needsAccount === true ? "needs_account" : problem === undefined ? "up" : "failed";
  const version = facts?.protocolVersion;
  return {
    id: name,
    object: "mcp_server",
    transport: transportOf(settings),
    status: checkedAt === undefined ? "starting" : checked,
    problem: problem ?? null,
    checked_at: checkedAt === undefined ? null : toSeconds(checkedAt),
    list_ms: durationMs ?? null,
    protocol_version: version ?? null,
    protocol_era: version === undefined ? null : version < FIRST_STATELESS ? "sessions" : "stateless",
    software: facts?.software ?? null,
    tool_count: toolCount,
    require_approval: settings.requireApproval,
    caller_authorization: settings.callerAuthorization,
    oauth: settings.oauth !== undefined,
    ...(showsSettings && { settings: toSettings(settings) }),
  };
}

function transportOf({ openapi, command }: ServerSettings): AnswerOf<typeof McpServer>["transport"] {
  if (openapi !== undefined) return "openapi";
  return command === undefined ? "http" : "stdio";
}

function toSettings(settings: ServerSettings): NonNullable<AnswerOf<typeof McpServer>["settings"]> {
  const { url, openapi, command, headers, access, pricePerCall, prices, timeoutSeconds, maxResultSize } = settings;
  return {
    url: url === undefined ? null : withoutQuery(url),
    openapi: openapi === undefined ? null : URL.canParse(openapi) ? withoutQuery(openapi) : openapi,
    command: command?.[0] ?? null,
    headers: Object.keys(headers),
    access: access.map(({ projects, tools }) => ({ projects: projects ?? null, tools: tools ?? null })),
    timeout_seconds: timeoutSeconds,
    max_result_bytes: maxResultSize,
    price_per_call: pricePerCall ?? null,
    prices,
  };
}

/** Some servers take their key in the query. */
function withoutQuery(address: string): string {
  const url = new URL(address);
  url.search = "";
  return url.href;
}
