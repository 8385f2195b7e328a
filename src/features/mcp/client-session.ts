/**
 * Session of a client of the protocol of 2025. Its ID says what the client has declared in the handshake, so every
 * replica reads it and none has to remember it. A client that writes one deceives only itself.
 */

import { randomUUID } from "node:crypto";
import type { ClientCapabilities } from "@modelcontextprotocol/server";

export interface ClientSession {
  id: string;
  capabilities: ClientCapabilities;
}

export const SESSION_HEADER = "mcp-session-id";

const ID = /^[0-9a-f-]{36}\.[a-z]{0,10}$/;

export function newSessionId({ elicitation, sampling, roots }: ClientCapabilities): string {
  const flags = [
    elicitation !== undefined && "e",
    elicitation?.url !== undefined && "u",
    sampling !== undefined && "s",
    sampling?.tools !== undefined && "t",
    sampling?.context !== undefined && "c",
    roots !== undefined && "r",
  ];
  return `${randomUUID()}.${flags.filter((flag) => flag !== false).join("")}`;
}

/** Undefined: the client has none, or one of another server. */
export function readSession(id: string | null): ClientSession | undefined {
  if (id === null || !ID.test(id)) return undefined;
  const flags = id.slice(id.indexOf(".") + 1);
  const has = (flag: string) => flags.includes(flag);
  return {
    id,
    capabilities: {
      ...(has("e") && { elicitation: { form: {}, ...(has("u") && { url: {} }) } }),
      ...(has("s") && { sampling: { ...(has("t") && { tools: {} }), ...(has("c") && { context: {} }) } }),
      ...(has("r") && { roots: {} }),
    },
  };
}
