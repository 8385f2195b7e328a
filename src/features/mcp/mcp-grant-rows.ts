/** Rows of grants. Times are epoch milliseconds. */

import type { PersonalData } from "../../storage/personal-data.ts";

/** What an owner lets this service do at an MCP server: tokens of OAuth, or a request for them. */
export interface McpGrantRow {
  id: string;
  organizationId: string;
  /** Owner; null: the grant belongs to a project. */
  userId: string | null;
  /** Project whose keys without a person use the grant; null: it belongs to a user. */
  projectId: string | null;
  /** Name of the server in the configuration. */
  server: string;
  /** `pending`: no tokens yet. `expired`: the tokens no longer work. */
  state: "pending" | "connected" | "expired";
  /** Address of the server that the tokens are for; null: no tokens yet. */
  url: string | null;
  /** Authorization server that issued the tokens. */
  issuer: string | null;
  /** Scopes of the tokens, separated by spaces; null: the authorization server does not say. */
  scopes: string | null;
  /** Scopes that the server asked for since, separated by spaces. */
  missingScopes: string | null;
  /** Tokens and the client that they were issued to, encrypted JSON. */
  tokens: Buffer | null;
  /** When the access token ends; null: unknown. */
  tokenExpiresAt: number | null;
  connectedAt: number | null;
  /** Request that waits for the browser, encrypted JSON. */
  request: Buffer | null;
  /** Increases with each change of the tokens. */
  version: number;
  /** While one process refreshes the tokens, others wait. */
  refreshingUntil: number | null;
  createdAt: number;
  /** Since when no server of this name is configured; null: it is. */
  unusedSince?: number | null;
}

/** What revokes the tokens of a grant, apart from its row, which may be deleted. */
export interface McpRevocationRow {
  grantId: string;
  /** Server, authorization server and tokens, encrypted JSON. */
  content: Buffer;
  attempts: number;
  nextAttemptAt: number;
}

declare module "../../storage/schema.ts" {
  interface Schema {
    mcpGrants: McpGrantRow;
    mcpRevocations: McpRevocationRow;
  }
}

export const mcpGrantData = {
  mcpGrants: { rows: [{ by: { userId: "user" }, order: "id", hidden: ["tokens", "request"], erase: "delete" }] },
  mcpRevocations: { reason: "Encrypted tokens without an owner, which are deleted once they are revoked." },
} as const satisfies PersonalData;
