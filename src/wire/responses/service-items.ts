/**
 * Items of tools that this service runs, as later requests send them: what they must contain, and what a model reads in
 * their place.
 */

import { z } from "zod";
import type { ToolCall } from "../../contracts/chat-message.ts";
import { lazy } from "../../kernel/lazy.ts";
import { listOf } from "../../kernel/list-of.ts";
import { textOfCodeOutputs } from "./code-interpreter.ts";
import { textOfFileSearch } from "./file-search.ts";
import { serviceFunctionName, Tools } from "./responses-tools.ts";
import { functionsIn, TOOL_SEARCH, textOfToolSearch } from "./tool-search.ts";
import { textOfWebSearch } from "./web-search.ts";

const text = z.string().min(1);
const McpName = z.looseObject({ server_label: text, name: text, arguments: z.string() });

/** Tools of an MCP server that one list may have. */
export const MAX_MCP_TOOLS = 1000;

export const SERVICE_ITEMS = {
  mcp_list_tools: lazy.looseObject(() => ({
    server_label: text,
    tools: listOf(z.looseObject({ name: text })).max(MAX_MCP_TOOLS),
  })),
  mcp_call: McpName,
  mcp_approval_request: McpName,
  web_search_call: z.looseObject({ action: z.looseObject({}) }),
  image_generation_call: z.looseObject({}),
  code_interpreter_call: z.looseObject({ container_id: text }),
  file_search_call: lazy.looseObject(() => ({ queries: z.array(z.string()) })),
  tool_search_call: z.looseObject({ call_id: z.string().nullish() }),
  tool_search_output: z.looseObject({ call_id: z.string().nullish(), tools: Tools }),
  mcp_approval_response: z.looseObject({ approval_request_id: text, approve: z.boolean() }),
} satisfies Record<string, z.ZodType>;

export function isServiceItem(type: string): boolean {
  return Object.hasOwn(SERVICE_ITEMS, type);
}

type Item = Readonly<Record<string, unknown>>;

/** A call of an earlier turn and what came of it. */
interface Exchange {
  call: ToolCall;
  result: string;
}

/**
 * Converts an item; undefined for one that the model does not read. `requests`: the approval requests before it by ID,
 * and the searches that wait for their output, to which it adds.
 */
export function toExchange(type: string, item: Item, requests: Map<string, Item>): Exchange | undefined {
  const id = String(item.id);
  switch (type) {
    case "mcp_call":
      return { call: toMcpCall(item), result: textOfMcpCall(item) };
    case "web_search_call": {
      const { query, result } = textOfWebSearch(item.action);
      return { call: { id, name: serviceFunctionName("web_search"), arguments: JSON.stringify({ query }) }, result };
    }
    case "file_search_call": {
      const call = {
        id,
        name: serviceFunctionName("file_search"),
        arguments: JSON.stringify({ queries: item.queries }),
      };
      return { call, result: textOfFileSearch(item.results) };
    }
    case "code_interpreter_call": {
      const name = serviceFunctionName("code_interpreter");
      const call = { id, name, arguments: JSON.stringify({ code: String(item.code ?? "") }) };
      return { call, result: textOfCodeOutputs(item.outputs) };
    }
    case "image_generation_call": {
      const prompt = String(item.revised_prompt ?? "");
      const name = serviceFunctionName("image_generation");
      const result = typeof item.result === "string" ? "The user saw the image." : "The image was not made.";
      return { call: { id, name, arguments: JSON.stringify({ prompt }) }, result };
    }
    case "tool_search_call":
      requests.set(searchKey(item), item);
      return undefined;
    case "tool_search_output": {
      const input = requests.get(searchKey(item))?.arguments ?? {};
      const json = typeof input === "string" ? input : JSON.stringify(input);
      const tools = functionsIn(item.tools as Item[]);
      return { call: { id: searchKey(item, id), name: TOOL_SEARCH, arguments: json }, result: textOfToolSearch(tools) };
    }
    case "mcp_approval_request":
      requests.set(id, item);
      return undefined;
    case "mcp_approval_response": {
      const request = requests.get(String(item.approval_request_id));
      // The item of an approved call follows.
      if (request === undefined || item.approve === true) return undefined;
      const reason = typeof item.reason === "string" && item.reason !== "" ? ` Reason: ${item.reason}` : "";
      return { call: toMcpCall(request), result: `The user did not approve this call.${reason}` };
    }
    default:
      return undefined;
  }
}

/** Key of a search of the caller; searches of a service have no call ID, and are followed by their output. */
function searchKey({ call_id: callId }: Item, otherwise: string = TOOL_SEARCH): string {
  return typeof callId === "string" ? callId : otherwise;
}

function toMcpCall({ id, name, server_label: label, arguments: sent }: Item): ToolCall {
  const input = String(sent ?? "").trim();
  return {
    id: String(id),
    name: serviceFunctionName(String(name), String(label)),
    arguments: input === "" ? "{}" : input,
  };
}

function textOfMcpCall({ output, error }: Item): string {
  if (typeof output === "string") return output;
  return error == null ? "" : `The tool failed: ${describe(error)}`;
}

/** The error is a text or one of OpenAI's objects. */
function describe(error: unknown): string {
  if (typeof error === "string") return error;
  const { message, content } = error as { message?: unknown; content?: unknown };
  return typeof message === "string" ? message : JSON.stringify(content ?? error);
}
