/** What a model and a caller read of a result or failure of an MCP server. */

import { isRefusal } from "../../inference/guardrails/guard-tool.ts";
import { Fault } from "../../kernel/faults.ts";
import { AddressRefused } from "../../kernel/outgoing/outgoing-guard.ts";
import { isConnectionRequired, isGrantFailure } from "./grants/grant-faults.ts";
import type { CallToolResult } from "./mcp-connection.ts";

/** Error of an `mcp_call` item, as in OpenAI's specification. */
type McpError =
  | { type: "mcp_protocol_error"; code: number; message: string }
  | { type: "mcp_tool_execution_error"; content: unknown }
  | { type: "http_error"; code: number; message: string };

export interface McpOutcome {
  /** Null after a failure. */
  output: string | null;
  error: McpError | null;
}

/** JSON-RPC codes of the SDKs: of a request that took too long, and of any other failure of a connection. */
const TIMED_OUT = -32001;
const FAILED = -32000;
const UNAUTHORIZED = 401;
const MAX_MESSAGE = 500;

export function toOutcome(result: CallToolResult, maxBytes: number): McpOutcome {
  const text = textOf(result);
  const bytes = Buffer.byteLength(text);
  if (bytes > maxBytes) {
    const message = `The result has ${bytes} bytes; the limit is ${maxBytes}.`;
    return { output: null, error: { type: "mcp_protocol_error", code: FAILED, message } };
  }
  if (result.isError !== true) return { output: text, error: null };
  return { output: null, error: { type: "mcp_tool_execution_error", content: [{ type: "text", text }] } };
}

export function toFailure(failure: unknown, message = describeFailure(failure)): McpOutcome {
  return { output: null, error: errorOf(failure, message) };
}

/** Models read results as text: what is not text is named in its place. */
function textOf({ content = [], structuredContent }: CallToolResult): string {
  const texts = content.map((block) => {
    switch (block.type) {
      case "text":
        return block.text;
      case "image":
      case "audio":
        return `[${block.type} of the type ${block.mimeType}, ${bytesOf(block.data)} bytes, which is not passed on]`;
      case "resource_link":
        return `[resource ${block.name}: ${block.uri}]`;
      case "resource": {
        const { resource } = block;
        if ("text" in resource) return resource.text;
        return `[resource ${resource.uri}, ${bytesOf(resource.blob)} bytes, which is not passed on]`;
      }
      default:
        return "[content of a type that is not passed on]";
    }
  });
  return texts.length === 0 && structuredContent !== undefined ? JSON.stringify(structuredContent) : texts.join("\n");
}

function bytesOf(base64: string): number {
  return Math.floor((base64.length * 3) / 4);
}

function errorOf(failure: unknown, message: string): McpError {
  const { status, code } = (failure ?? {}) as { status?: unknown; code?: unknown };
  if (isConnectionRequired(failure)) return { type: "http_error", code: UNAUTHORIZED, message };
  if (typeof status === "number") return { type: "http_error", code: status, message };
  if (isRefusal(failure)) return { type: "mcp_protocol_error", code: FAILED, message };
  if (failure instanceof Fault) return { type: "mcp_protocol_error", code: TIMED_OUT, message };
  return { type: "mcp_protocol_error", code: typeof code === "number" ? code : FAILED, message };
}

const NOT_PUBLIC =
  "Its address is not public. An operator adds servers in private networks to 'mcp_servers'; name such a server without its address.";

/** Describes a failure without what only the operator may know, such as the address behind a name. */
export function describeFailure(failure: unknown): string {
  if (isGrantFailure(failure)) return failure.message;
  for (let cause = failure; cause instanceof Error; cause = cause.cause) {
    const { status, code } = cause as { status?: unknown; code?: unknown };
    if (cause instanceof AddressRefused) return NOT_PUBLIC;
    if (typeof status === "number") return `The server answered with the status ${status}.`;
    // What fetch throws, and Node's errors of sockets and processes.
    const isUnreachable = cause instanceof TypeError && !(cause.cause instanceof AddressRefused);
    if (isUnreachable || (typeof code === "string" && /^E[A-Z]+$/.test(code)))
      return "The server could not be reached.";
  }
  return failure instanceof Error ? failure.message.slice(0, MAX_MESSAGE) : "The server failed.";
}
