/** The log of calls of MCP tools: who called which tool, how it ended and what it cost. Never arguments or results. */

import type { Caller } from "../../contracts/caller.ts";
import { toRecordedText } from "../../inference/failure-message.ts";
import type { ToolResult } from "../../inference/tool-run.ts";
import { resultWithin } from "../../kernel/async/timeout.ts";
import { DAY_MS } from "../../kernel/durations.ts";
import { Fault } from "../../kernel/faults.ts";
import { newId } from "../../kernel/id.ts";
import { Retention } from "../../kernel/jobs/retention.ts";
import type { Logger } from "../../kernel/logger.ts";
import type { Database } from "../../storage/database.ts";
import { isConstraintViolation } from "../../storage/errors.ts";
import type { Page } from "../../storage/page.ts";
import { insertMcpCalls, listMcpCalls, type McpCallsRequest, removeMcpCallsBefore } from "./mcp-call-queries.ts";
import type { McpCallRow, McpCallSource } from "./mcp-call-rows.ts";
import type { CallToolResult } from "./mcp-connection.ts";
import { describeFailure } from "./mcp-result.ts";

const WRITE_MS = 500;
const CLOSE_MS = 2000;
/** Calls that wait while the database is away. */
const MAX_WAITING = 10_000;
/** Rows of one statement, which has a limited number of parameters. */
const WRITTEN_AT_ONCE = 500;
const REMOVED_AT_ONCE = 500;
/** JSON-RPC's code for arguments that the server refuses, whose message may quote them. */
const INVALID_PARAMS = -32602;

export interface LoggedCall {
  caller: Caller;
  server: string;
  /** A tool, or `prompts/` or `resources/` and a name or address. */
  tool: string;
  source: McpCallSource;
  /** Whether guardrails read what the server says, which its message has not passed. */
  isGuarded?: boolean;
}

export class McpCallLog {
  readonly #database: Database;
  readonly #logger: Logger;
  #waiting: McpCallRow[] = [];
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();

  readonly #days: number;

  /** `days`: for which calls are kept; 0: none is recorded. */
  constructor({ database, logger, days }: { database: Database; logger: Logger; days: number }) {
    this.#database = database;
    this.#logger = logger;
    this.#days = days;
  }

  /** Runs a call and records how it ended. Throws what `run` throws. */
  async record<Result>(call: LoggedCall, run: () => Promise<ToolResult<Result>>): Promise<ToolResult<Result>> {
    const startedAt = Date.now();
    const beganAt = performance.now();
    const end = (part: Pick<McpCallRow, "outcome" | "error" | "resultBytes" | "costNanoDollars">) => {
      this.#add({
        id: newId("mcpcall_"),
        createdAt: startedAt,
        organizationId: call.caller.organizationId,
        projectId: call.caller.projectId ?? "",
        keyId: call.caller.keyId,
        server: call.server,
        tool: toRecordedText(call.tool.slice(0, 200)),
        source: call.source,
        durationMs: Math.round(performance.now() - beganAt),
        ...part,
      });
    };
    try {
      const result = await run();
      const { value, failure, costNanoDollars } = result;
      if (value === undefined) {
        end({ outcome: "failed", error: errorOf(failure, call), resultBytes: null, costNanoDollars });
      } else {
        const outcome = (value as Partial<CallToolResult>).isError === true ? "tool_error" : "completed";
        end({ outcome, error: null, resultBytes: Buffer.byteLength(JSON.stringify(value)), costNanoDollars });
      }
      return result;
    } catch (failure) {
      const isCancelled = failure instanceof Fault && failure.kind === "client-left";
      const outcome = isCancelled ? "cancelled" : "failed";
      end({ outcome, error: isCancelled ? null : errorOf(failure, call), resultBytes: null, costNanoDollars: null });
      throw failure;
    }
  }

  /** Calls that have ended, newest or oldest first. */
  async list(request: McpCallsRequest): Promise<Page<McpCallRow>> {
    return this.#database.run((executor) => listMcpCalls(executor, request));
  }

  /** Writes what waits; keeps it for the next attempt while the database is unavailable. Never throws. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writing = this.#writing.then(() => this.#write());
    return this.#writing;
  }

  async close(): Promise<void> {
    await resultWithin(this.flush(), CLOSE_MS);
    clearTimeout(this.#timer);
  }

  /** Removes calls with the requests of the same age. */
  retention(): Retention {
    const remove = (now: number) =>
      this.#database.run((executor) => removeMcpCallsBefore(executor, now - this.#days * DAY_MS, REMOVED_AT_ONCE));
    return new Retention({ subject: "calls of MCP tools", logger: this.#logger, steps: [remove] });
  }

  #add(row: McpCallRow): void {
    if (this.#days === 0) return;
    if (this.#waiting.length >= MAX_WAITING) this.#waiting.shift();
    this.#waiting.push(row);
    this.#schedule();
  }

  #schedule(): void {
    this.#timer ??= setTimeout(() => void this.flush(), WRITE_MS);
  }

  async #write(): Promise<void> {
    while (this.#waiting.length > 0) {
      const rows = this.#waiting.slice(0, WRITTEN_AT_ONCE);
      try {
        await this.#database.run((executor) => insertMcpCalls(executor, rows));
      } catch (error) {
        // What the database can never store would block all later calls.
        if (!isConstraintViolation(error)) {
          this.#logger.debug({ error: String(error) }, "calls of MCP tools not written to the database yet");
          this.#schedule();
          return;
        }
        this.#logger.error({ calls: rows.length, error: String(error) }, "calls of MCP tools lost");
      }
      const written = new Set(rows);
      this.#waiting = this.#waiting.filter((row) => !written.has(row));
    }
  }
}

function errorOf(failure: unknown, { isGuarded = false }: LoggedCall): string {
  const { code } = (failure ?? {}) as { code?: unknown };
  const isServers = !(failure instanceof Fault) && typeof code === "number";
  if (isServers && (isGuarded || code === INVALID_PARAMS)) return `The server answered with the error ${code}.`;
  return toRecordedText(describeFailure(failure));
}
