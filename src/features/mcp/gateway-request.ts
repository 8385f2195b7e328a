import type { Caller } from "../../contracts/caller.ts";
import type { OnDisconnect } from "../../inference/on-disconnect.ts";
import { Fault } from "../../kernel/faults.ts";
import type { McpCallSource } from "./mcp-call-rows.ts";
import type { McpToolset } from "./toolsets.ts";

/** One request of a client to /mcp. */
export interface GatewayRequest {
  caller: Caller;
  source: McpCallSource;
  /** Server that is offered, by its plain names; undefined: all servers. */
  server?: string | undefined;
  /** Selection that is offered in place of all servers. */
  toolset?: McpToolset | undefined;
  onDisconnect: OnDisconnect;
  /** Called with what a request uses, once it is clear: a tool, or `prompts/` or `resources/` and a name or address. */
  onCall(server: string, use: string): void;
  /** Called when a call has failed. */
  onFailure(failure: unknown): void;
}

/** A name or address that the client may not use, or that nobody offers. */
export class UnknownOffer extends Error {
  override readonly name = "UnknownOffer";
}

type Library = typeof import("@modelcontextprotocol/server");

/** Returns the protocol's error for a failure. Of one that nobody expected, only the log says more. */
export function toProtocolError(
  { ProtocolError, INVALID_PARAMS, INTERNAL_ERROR }: Library,
  failure: unknown,
  { onFailure }: Pick<GatewayRequest, "onFailure">,
): Error {
  if (failure instanceof UnknownOffer) return new ProtocolError(INVALID_PARAMS, failure.message);
  // Aborts are DOMExceptions.
  if (failure instanceof ProtocolError || failure instanceof DOMException) return failure as Error;
  onFailure(failure);
  return new ProtocolError(INTERNAL_ERROR, failure instanceof Fault ? failure.message : "The service failed.");
}
