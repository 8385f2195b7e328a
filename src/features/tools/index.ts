/** What other features may use. */

export { combineSettlements } from "./combine-settlements.ts";
export type { DeferredTool, DeferredTools } from "./deferred-tools.ts";
export type {
  CallContext,
  CallOutcome,
  PendingCall,
  RunContext,
  ServiceCall,
  ServiceFunction,
  ServiceTool,
  ServiceToolType,
  ToolContext,
} from "./service-tool.ts";
export { closedOnFailure, type OpenTools, type ServiceTools } from "./service-tools.ts";
export { type LoopRequest, startToolLoop } from "./tool-loop.ts";
export { withPath } from "./with-path.ts";
