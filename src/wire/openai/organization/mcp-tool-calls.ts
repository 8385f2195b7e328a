/** Tools of MCP servers and their calls. */

import { z } from "zod";
import { lazy } from "../../../kernel/lazy.ts";
import { inDollars } from "../../../kernel/nano-dollars.ts";
import { listOfEntries } from "../../openapi/list-answers.ts";
import { type AnswerOf, named } from "../../openapi/named.ts";
import { ORDER_QUERY, PAGE_QUERY } from "./organization-list.ts";

const MAX_NAME = 200;

export const McpTool = named(
  "McpTool",
  lazy.object(() => ({
    id: z.string().describe("Name of the tool."),
    object: z.literal("mcp_server.tool"),
    title: z.string().nullable(),
    description: z.string().nullable(),
    input_schema: z.record(z.string(), z.unknown()),
    read_only: z.boolean().describe("Whether the server says that it changes nothing."),
    destructive: z.boolean().describe("Whether the server says that it may delete or overwrite."),
    price_usd: z.string().nullable().describe("US dollars of a call; null: no price is set."),
  })),
);

export const McpCallResult = named(
  "McpCallResult",
  lazy.object(() => ({
    object: z.literal("mcp_server.call_result"),
    content: z.array(z.looseObject({ type: z.string() })),
    structured_content: z.record(z.string(), z.unknown()).nullable(),
    is_error: z.boolean().describe("Whether the tool says that it failed."),
    duration_ms: z.int(),
    cost_usd: z.string().nullable(),
  })),
);

export const McpCall = named(
  "McpCall",
  lazy.object(() => ({
    id: z.string(),
    object: z.literal("organization.mcp_call"),
    created_at: z.number().describe("When it began, with milliseconds."),
    project_id: z.string().nullable(),
    api_key_id: z.string().describe("The key, or the user of a session."),
    server: z.string(),
    tool: z.string(),
    source: z.enum(["response", "gateway", "api"]).describe("A model's response, an MCP client, or this API."),
    outcome: z
      .enum(["completed", "tool_error", "failed", "cancelled"])
      .describe("`tool_error`: the tool answered that it failed. `failed`: it did not answer."),
    error: z.string().nullable(),
    duration_ms: z.int(),
    result_bytes: z.int().nullable(),
    cost_usd: z.number().nullable(),
  })),
);

export const McpToolList = listOfEntries(McpTool);
export const McpCallList = listOfEntries(McpCall);

export const McpCallBody = named(
  "McpCallBody",
  lazy.strictObject(() => ({
    name: z.string().min(1).max(MAX_NAME),
    arguments: z.record(z.string(), z.unknown()).default({}),
  })),
);

export const McpCallsQuery = lazy.strictObject(() => ({
  ...PAGE_QUERY,
  ...ORDER_QUERY,
  order: ORDER_QUERY.order.default("desc"),
  server: z.string().min(1).max(MAX_NAME).optional(),
  tool: z.string().min(1).max(MAX_NAME).optional(),
  project_id: z.string().min(1).max(MAX_NAME).optional(),
  outcome: McpCall.shape.outcome.optional(),
}));

interface ShownTool {
  name: string;
  title?: string | undefined;
  description?: string | undefined;
  inputSchema: Readonly<Record<string, unknown>>;
  annotations?:
    | { title?: string | undefined; readOnlyHint?: boolean | undefined; destructiveHint?: boolean | undefined }
    | undefined;
}

export function toMcpTool(tool: ShownTool, priceUsd: string | undefined): AnswerOf<typeof McpTool> {
  const { name, title, description, inputSchema, annotations } = tool;
  return {
    id: name,
    object: "mcp_server.tool",
    title: title ?? annotations?.title ?? null,
    description: description ?? null,
    input_schema: inputSchema,
    read_only: annotations?.readOnlyHint === true,
    destructive: annotations?.destructiveHint === true && annotations.readOnlyHint !== true,
    price_usd: priceUsd ?? null,
  };
}

interface CallResult {
  content?: readonly ({ type: string } & object)[] | undefined;
  structuredContent?: unknown;
  isError?: boolean | undefined;
}

export function toMcpCallResult(
  { content = [], structuredContent, isError }: CallResult,
  durationMs: number,
  priceUsd: string | undefined,
): AnswerOf<typeof McpCallResult> {
  return {
    object: "mcp_server.call_result",
    content: content.map((block) => ({ ...block })),
    structured_content: (structuredContent as Readonly<Record<string, unknown>> | undefined) ?? null,
    is_error: isError === true,
    duration_ms: durationMs,
    cost_usd: priceUsd ?? null,
  };
}

export interface ShownToolCall {
  id: string;
  /** When the call began. */
  createdAt: number;
  /** Empty for a caller without a project. */
  projectId: string;
  keyId: string;
  server: string;
  tool: string;
  source: "response" | "gateway" | "api";
  outcome: "completed" | "tool_error" | "failed" | "cancelled";
  /** Why it failed; null for a success, and for a failure that the tool itself describes. */
  error: string | null;
  durationMs: number;
  /** Null without a result. */
  resultBytes: number | null;
  /** Null without a price. */
  costNanoDollars: number | null;
}

export function toMcpCall(row: ShownToolCall): AnswerOf<typeof McpCall> {
  return {
    id: row.id,
    object: "organization.mcp_call",
    created_at: row.createdAt / 1000,
    project_id: row.projectId === "" ? null : row.projectId,
    api_key_id: row.keyId,
    server: row.server,
    tool: row.tool,
    source: row.source,
    outcome: row.outcome,
    error: row.error,
    duration_ms: row.durationMs,
    result_bytes: row.resultBytes,
    cost_usd: inDollars(row.costNanoDollars),
  };
}
