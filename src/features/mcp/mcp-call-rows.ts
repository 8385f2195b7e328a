import type { PersonalData } from "../../storage/personal-data.ts";
import type { ShownToolCall } from "../../wire/openai/organization/mcp-tool-calls.ts";

/** One call of a tool of an MCP server, without its arguments and its result. */
export interface McpCallRow extends ShownToolCall {
  organizationId: string;
  source: McpCallSource;
  outcome: McpCallOutcome;
}

/** What made the call: a model's response, an MCP client, or an operation of the API. */
export type McpCallSource = "response" | "gateway" | "api";

/** `tool_error`: the tool answered that it failed. */
type McpCallOutcome = "completed" | "tool_error" | "failed" | "cancelled";

declare module "../../storage/schema.ts" {
  interface Schema {
    mcpCalls: McpCallRow;
  }
}

export const mcpCallData = {
  mcpCalls: { rows: [{ by: { keyId: "caller" }, order: "id", erase: "delete" }] },
} as const satisfies PersonalData;
