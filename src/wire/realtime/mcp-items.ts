/** MCP tools of a Realtime session: what clients configure, and the items and events of their calls. */

import { z } from "zod";
import type { ChatMessage } from "../../contracts/chat-message.ts";
import { lazy } from "../../kernel/lazy.ts";
import type { ItemProgress, ServiceItem } from "../responses/item-events.ts";
import type { InputItem } from "../responses/responses-input.ts";
import type { SentTool } from "../responses/responses-tools.ts";
import { toExchange } from "../responses/service-items.ts";

/** Its other fields are those of the tool in the Responses API, which checks them. */
export const McpTool = lazy.looseObject(() => ({ type: z.literal("mcp"), server_label: z.string().min(1).max(64) }));
export type McpTool = z.output<typeof McpTool>;

export const McpToolChoice = lazy.object(() => ({
  type: z.literal("mcp"),
  server_label: z.string().min(1),
  name: z.string().min(1).nullish(),
}));

const common = { id: z.string().min(1).max(64).nullish() };
const McpCallFields = { ...common, server_label: z.string(), name: z.string(), arguments: z.string() };

/** Items that clients send: answers to approval requests, and those of an earlier session. */
export const MCP_ITEMS = [
  lazy.object(() => ({
    ...common,
    type: z.literal("mcp_approval_response"),
    approval_request_id: z.string().min(1),
    approve: z.boolean(),
    reason: z.string().nullish(),
  })),
  z.object({ ...McpCallFields, type: z.literal("mcp_approval_request") }),
  lazy.looseObject(() => ({ ...McpCallFields, type: z.literal("mcp_call"), output: z.string().nullish() })),
  lazy.object(() => ({
    ...common,
    type: z.literal("mcp_list_tools"),
    server_label: z.string(),
    tools: z.array(z.looseObject({ name: z.string() })).max(1000),
  })),
] as const;

type McpItemType = "mcp_approval_request" | "mcp_approval_response" | "mcp_call" | "mcp_list_tools";

export interface McpItem {
  id: string;
  object: "realtime.item";
  type: McpItemType;
  [field: string]: unknown;
}

export function isMcpItem<Item extends { type: string }>(item: Item): item is Extract<Item, { type: McpItemType }> {
  return item.type.startsWith("mcp_");
}

/** Renders an item of the Responses API. */
export function toMcpItem({ status: _status, ...item }: ServiceItem): McpItem {
  const { error, type } = item;
  const base = { ...item, object: "realtime.item" as const, type: type as McpItemType };
  return type === "mcp_call" ? { ...base, error: error == null ? null : toError(error) } : base;
}

/** Renders an error, whose types have shorter names here. */
function toError(error: unknown): object {
  const { type, content, ...others } = error as { type: string; content?: { text?: string }[] };
  if (type !== "mcp_tool_execution_error") return { type: type.replace(/^mcp_/, ""), ...others };
  return { type: "tool_execution_error", message: (content ?? []).map(({ text = "" }) => text).join("\n") };
}

/** Whether a session's events have the event of an item of the Responses API. */
export function isRealtimeEvent({ type }: ItemProgress): boolean {
  return type.startsWith("response.mcp_call");
}

/** Returns the items of a conversation as those that a response of the Responses API continues from. */
export function toResponsesItems(items: readonly { type: string }[]): InputItem[] {
  return items.filter(({ type }) => type.startsWith("mcp_")) as unknown as InputItem[];
}

/** Returns what a model reads of an item: a call and its result. `requests`: approval requests before it, to which it adds. */
export function toMcpMessages(item: McpItem, requests: Map<string, Readonly<Record<string, unknown>>>): ChatMessage[] {
  const exchange = toExchange(item.type, item, requests);
  if (exchange === undefined) return [];
  const { call, result } = exchange;
  return [
    { role: "assistant", content: "", toolCalls: [call] },
    { role: "tool", toolCallId: call.id, content: result },
  ];
}

/** Returns the tool as the Responses API has it. */
export function toSentTool(tool: McpTool): SentTool {
  return { ...tool } as SentTool;
}

/** Removes the secrets of a tool. */
export function withoutSecrets<Tool extends { type: string }>(tool: Tool): Tool {
  if (tool.type !== "mcp") return tool;
  const { authorization: _token, headers: _headers, ...shown } = tool as Tool & Record<string, unknown>;
  return shown as unknown as Tool;
}
