import type { OnDisconnect } from "../../inference/on-disconnect.ts";
import type { Fault } from "../../kernel/faults.ts";
import type { Caller } from "../accounts/caller.ts";
import type { McpCallSource } from "./mcp-call-rows.ts";

/** One request of a client to /mcp. */
export interface GatewayRequest {
  caller: Caller;
  source: McpCallSource;
  /** Server that is offered, by its plain names; undefined: all servers. */
  server?: string | undefined;
  onDisconnect: OnDisconnect;
  /** Called with what a request uses, once it is clear: a tool, or `prompts/` or `resources/` and a name or address. */
  onCall(server: string, use: string): void;
  /** Called when a call has failed. */
  onFailure(failure: Fault): void;
}
