import type { PersonalData } from "../../storage/personal-data.ts";

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

export const mcpMessageData = {
  mcpMessages: {
    reason: "Encrypted on their way between replicas, and deleted within minutes.",
    impersonal: { content: "Encrypted." },
  },
} as const satisfies PersonalData;
