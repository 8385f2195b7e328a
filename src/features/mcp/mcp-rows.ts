/** What an MCP client has sent to another replica than the one that waits for it. */
export interface McpMessageRow {
  /** Hash of what the message belongs to. */
  id: string;
  projectId: string;
  /** Encrypted with a key that only the two replicas derive. */
  content: string;
  createdAt: number;
}

declare module "../../storage/schema.ts" {
  interface Schema {
    mcpMessages: McpMessageRow;
  }
}
