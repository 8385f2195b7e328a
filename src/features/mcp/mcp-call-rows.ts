/** One call of a tool of an MCP server, without its arguments and its result. */
export interface McpCallRow {
  id: string;
  /** When the call began. */
  createdAt: number;
  organizationId: string;
  /** Empty for a caller without a project. */
  projectId: string;
  keyId: string;
  server: string;
  tool: string;
  source: McpCallSource;
  outcome: McpCallOutcome;
  /** Why it failed; null for a success, and for a failure that the tool itself describes. */
  error: string | null;
  durationMs: number;
  /** Null without a result. */
  resultBytes: number | null;
  /** Null without a price. */
  costNanoDollars: number | null;
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
