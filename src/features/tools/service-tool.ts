/** The contract of tools that the service runs within a response, such as `mcp`. Types only. */

import type { Caller } from "../../contracts/caller.ts";
import type { Tool } from "../../contracts/chat-model.ts";
import type { GuardResult } from "../../inference/guardrails/guard-tool.ts";
import type { Guards } from "../../inference/guardrails/guards.ts";
import type { ToolResult, ToolRunOptions } from "../../inference/tool-run.ts";
import type { Annotation, ItemEvent, ItemProgress, ServiceItem } from "../../wire/responses/item-events.ts";
import type { InputItem } from "../../wire/responses/responses-input.ts";
import type { SentTool } from "../../wire/responses/responses-tools.ts";
import type { DeferredTools } from "./deferred-tools.ts";

/** A type of tool in `tools` of a Responses request. */
export interface ServiceToolType {
  readonly type: string;
  /** Values of `include` that the tool honors. */
  readonly includes?: readonly string[];
  /** Whether upstreams with the caller's API run the tool themselves: they do where no other tool runs here. */
  readonly isNativeElsewhere?: boolean;
  /**
   * Whether this service runs the tool; otherwise an upstream with the Responses API may. Throws a Fault for a tool that
   * must not run anywhere. `path`: such as `tools[0]`.
   */
  serves(tool: SentTool, path: string, caller: Caller): boolean;
  /** Opens the tool for one response. Throws a Fault. */
  open(tool: SentTool, context: ToolContext): Promise<ServiceTool>;
}

export interface ToolContext extends CallContext {
  /** Such as `tools[0]`, for errors. */
  path: string;
  /** Items that the response continues from, then its input; an input that is a text has none. */
  items: readonly InputItem[];
  include: readonly string[];
  /** Whether no later request can name what the tool makes: it is deleted when the tool closes. */
  isTransient?: boolean;
  /** Returns the name that the model calls a function by: the same for the same function wherever that is possible. */
  functionName: (name: string, namespace?: string) => string;
  /** Complete once all tools are open. */
  deferred: DeferredTools;
  /** Counts further bytes that the tool occupies until it closes. Throws a Fault when too many are in memory. */
  hold: (bytes: number) => void;
}

/** A tool that is open for one response. */
export interface ServiceTool {
  /** Read once all tools are open. */
  readonly functions: readonly ServiceFunction[];
  /** Items before the model's first turn. */
  items?: readonly ItemEvent[];
  /** Calls to run before the model's first turn, such as those that the caller has approved. */
  calls?: readonly PendingCall[];
  /** Returns the citations of a text of the answer. */
  annotate?(text: string): readonly Annotation[];
  close?(): Promise<void>;
}

export interface ServiceFunction {
  /** As the model sees it; the name comes from `ToolContext.functionName`. */
  definition: Tool;
  /** What `tool_choice` calls it. */
  name: string;
  serverLabel?: string;
  /** Whether a call waits for the caller's approval. */
  needsApproval?: boolean;
  /** Begins a call that the model writes. */
  begin(): ServiceCall;
}

export interface PendingCall {
  call: ServiceCall;
  /** Name that the model calls the function by. */
  name: string;
  arguments: string;
}

/** A call from its first token to its item's end. */
export interface ServiceCall {
  /** Whether `run` only asks the caller to approve the call: its arguments do not leave yet. */
  readonly waits?: boolean;
  /** Fields of the request that leave with each call, such as where the user is; `run` gets them guarded. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Renders the item in its present state. */
  toItem(status: "in_progress" | "completed" | "incomplete"): ServiceItem;
  /** Events after the item was added. */
  begin(): readonly ItemProgress[];
  /** Adds a piece of the arguments, which are JSON. */
  append(text: string): readonly ItemProgress[];
  /**
   * Runs the call; its failures become a part of the item and of the result that the model reads. Throws Faults of
   * `runTool` only, which end the response.
   */
  run(input: Readonly<Record<string, unknown>>, context: RunContext): AsyncGenerator<ItemProgress, CallOutcome>;
  /** Ends a call that does not run. */
  refuse(reason: string): readonly ItemProgress[];
  /** Returns items that follow that of the call, once it has ended. */
  following?(): readonly ServiceItem[];
}

/** `pause`: the response ends, because the caller has to act first. */
export type CallOutcome = { type: "result"; text: string } | { type: "pause" };

export interface CallContext {
  /** Caller of the request as it is at this step: a response may last for hours. */
  caller: Caller;
  /** Aborted when the caller leaves. */
  signal: AbortSignal;
  runTool: RunTool;
  /** Returns the guardrails of one use of a tool, which whoever gets them ends; undefined: nothing checks it. */
  guardsOf(name: string): Guards | undefined;
}

export interface RunContext extends CallContext {
  /** Settings of the call as they may leave. */
  settings: Readonly<Record<string, unknown>>;
  /** Passes texts of the result through the caller's guardrails. Throws a Fault. Undefined: nothing checks them. */
  guardResult?: GuardResult | undefined;
}

/**
 * Reserves the price of a call, runs it within its time and records it. Resolves with the failure of `work`; throws a
 * Fault when a limit refuses the call or its request has ended.
 */
type RunTool = <Result>(
  tool: ToolRunOptions,
  work: (signal: AbortSignal) => Promise<Result>,
) => Promise<ToolResult<Result>>;
