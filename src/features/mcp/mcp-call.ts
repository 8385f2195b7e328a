/** Calls of MCP tools within a response: those that run, and those that wait for the caller's approval. */

import type { Caller } from "../../contracts/caller.ts";
import { isRefusal } from "../../inference/guardrails/guard-tool.ts";
import type { ToolResult } from "../../inference/tool-run.ts";
import { newId } from "../../kernel/id.ts";
import type { CallOutcome, RunContext, ServiceCall } from "../tools/index.ts";
import { isConnectionRequired } from "./grants/grant-faults.ts";
import { guardFailure, guardToolResult } from "./guard-tool-result.ts";
import type { LoggedCall, McpCallLog } from "./mcp-call-log.ts";
import type { McpConnection, McpTool } from "./mcp-connection.ts";
import { describeFailure, type McpOutcome, toFailure, toOutcome } from "./mcp-result.ts";
import type { McpServer } from "./mcp-servers.ts";

export interface McpCallOptions {
  caller: Caller;
  log: McpCallLog;
  server: McpServer;
  tool: McpTool;
  connect: () => McpConnection;
  approvalRequestId?: string | undefined;
}

export class McpCall implements ServiceCall {
  readonly #options: McpCallOptions;
  readonly #id = newId("mcp_");
  #arguments = "";
  #outcome: McpOutcome = { output: null, error: null };

  constructor(options: McpCallOptions) {
    this.#options = options;
  }

  toItem(status: "in_progress" | "completed" | "incomplete") {
    const { server, tool, approvalRequestId = null } = this.#options;
    const { output, error } = this.#outcome;
    return {
      id: this.#id,
      type: "mcp_call",
      status: error === null ? status : "failed",
      approval_request_id: approvalRequestId,
      arguments: this.#arguments,
      error,
      name: tool.name,
      output,
      server_label: server.name,
    };
  }

  begin() {
    return [{ type: "response.mcp_call.in_progress" }];
  }

  append(text: string) {
    this.#arguments += text;
    return [{ type: "response.mcp_call_arguments.delta", delta: text }];
  }

  async *run(input: Readonly<Record<string, unknown>>, { runTool, guardResult }: RunContext) {
    const { caller, log, server, tool, connect } = this.#options;
    yield this.#argumentsDone();
    const run = () =>
      runTool(runOptions(server, tool.name), async (signal) => {
        const result = await connect().callTool(tool, input, signal);
        return guardResult === undefined ? result : guardToolResult(result, guardResult);
      });
    const isGuarded = guardResult !== undefined;
    const call = { caller, server, tool: tool.name, source: "response" as const, isGuarded };
    const { value, failure } = await logged(log, call, run);
    this.#outcome =
      value === undefined ? await guardedFailure(failure, guardResult) : toOutcome(value, server.maxResultBytes);
    const { output, error } = this.#outcome;
    yield { type: error === null ? "response.mcp_call.completed" : "response.mcp_call.failed" };
    const outcome: CallOutcome = { type: "result", text: output ?? `The tool failed: ${textOfError(error)}` };
    return outcome;
  }

  refuse(reason: string) {
    this.#outcome = toFailure(new Error(reason));
    return [this.#argumentsDone(), { type: "response.mcp_call.failed" }];
  }

  #argumentsDone() {
    return { type: "response.mcp_call_arguments.done", arguments: this.#arguments };
  }
}

/** A server writes the message of its failure. */
async function guardedFailure(failure: unknown, guardResult: RunContext["guardResult"]): Promise<McpOutcome> {
  if (guardResult === undefined || isRefusal(failure) || isConnectionRequired(failure)) return toFailure(failure);
  const guarded = await guardFailure(failure, describeFailure(failure), guardResult);
  return toFailure(guarded.failure, guarded.message);
}

/** A call that the caller has to approve with the next request. */
export class McpApprovalCall implements ServiceCall {
  readonly waits = true;
  readonly #id = newId("mcpr_");
  readonly #server: string;
  readonly #tool: string;
  #arguments = "";

  constructor(server: string, tool: string) {
    this.#server = server;
    this.#tool = tool;
  }

  toItem() {
    const call = { arguments: this.#arguments, name: this.#tool, server_label: this.#server };
    return { id: this.#id, type: "mcp_approval_request", ...call };
  }

  begin() {
    return [];
  }

  append(text: string) {
    this.#arguments += text;
    return [];
  }

  // biome-ignore lint/correctness/useYield: nothing happens before the approval.
  async *run(): AsyncGenerator<never, CallOutcome> {
    return { type: "pause" };
  }

  refuse() {
    return [];
  }
}

/** Runs a call, which the log records if the operator named the server. */
export function logged<Result>(
  log: McpCallLog,
  { server, ...call }: Omit<LoggedCall, "server"> & { server: McpServer },
  run: () => Promise<ToolResult<Result>>,
): Promise<ToolResult<Result>> {
  return server.settings === undefined ? run() : log.record({ ...call, server: server.name }, run);
}

/** Bounds and bill of a call. */
export function runOptions(server: McpServer, tool: string) {
  const name = server.settings === undefined ? "mcp" : `mcp/${server.name}`;
  const label = `${server.name}__${tool}`.slice(0, 200);
  return { name, label, pricePerCall: server.priceOf(tool), timeoutMs: server.timeoutMs };
}

function textOfError(error: McpOutcome["error"]): string {
  if (error === null) return "";
  if (error.type !== "mcp_tool_execution_error") return error.message;
  return (error.content as { text?: string }[]).map(({ text = "" }) => text).join("\n");
}
