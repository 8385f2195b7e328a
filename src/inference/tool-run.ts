/** One call of a tool that this service runs: bounded in time, aborted with its request, settled once. */

import { costInNanoDollars } from "../catalog/prices/cost.ts";
import type { Caller } from "../contracts/caller.ts";
import { type Charge, NO_PRICE } from "../contracts/price.ts";
import { untilAborted } from "../kernel/async/until-aborted.ts";
import { Fault } from "../kernel/faults.ts";
import { NO_USAGE } from "../kernel/usage.ts";
import type { Reservation } from "./quota.ts";

export interface ToolRunOptions {
  /** What usage records name in place of a model, such as `file_search` or `mcp/wiki`; operators choose it. */
  name: string;
  /** Value of the usage label `tool`: the tool as the model calls it. */
  label: string;
  /** US dollars of one call, a decimal string; undefined: none is known. */
  pricePerCall?: string | undefined;
  timeoutMs: number;
}

/** How a call ended; called once for each. */
export interface ToolSettlement {
  caller: Caller;
  tool: ToolRunOptions;
  outcome: "finished" | "client-left" | "failed";
  /** Null without a price. */
  costNanoDollars: number | null;
  startedAt: number;
  durationSeconds: number;
}

export type ToolResult<Result> = { /** Null without a price. */ costNanoDollars: number | null } & (
  | { value: Result; failure?: undefined }
  | { value?: undefined; failure: unknown }
);

interface RunOptions {
  caller: Caller;
  tool: ToolRunOptions;
  charge: Charge;
  reservation: Reservation;
  startedAt: number;
  onSettled: (settlement: ToolSettlement) => void;
}

/** `factors`: those of the caller's project. */
export function toolCharge({ pricePerCall }: ToolRunOptions, factors: readonly string[]): Charge {
  return { price: pricePerCall === undefined ? NO_PRICE : { request: pricePerCall }, factors };
}

export class ToolRun {
  readonly #options: RunOptions;
  readonly #abort = new AbortController();
  readonly #beganAt = performance.now();

  constructor(options: RunOptions) {
    this.#options = options;
  }

  get caller(): Caller {
    return this.#options.caller;
  }

  abort(reason: Fault): void {
    // The first reason counts.
    this.#abort.abort(reason);
  }

  /**
   * Resolves with the failure of `work`, also when it takes too long. Throws the reason of another end. A call that fails
   * costs what one that succeeds does: the tool was asked.
   */
  async run<Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<ToolResult<Result>> {
    const { timeoutMs } = this.#options.tool;
    const { signal } = this.#abort;
    const late = new Fault("upstream-timeout", `It did not answer within ${timeoutMs / 1000} seconds.`);
    const deadline = setTimeout(() => this.abort(late), timeoutMs);
    let outcome: ToolSettlement["outcome"] = "failed";
    try {
      signal.throwIfAborted();
      const value = await untilAborted(work(signal), signal);
      outcome = "finished";
      return { value, costNanoDollars: this.#costNanoDollars };
    } catch (failure) {
      if (signal.aborted && signal.reason !== late) {
        outcome = "client-left";
        throw signal.reason;
      }
      return { failure: signal.aborted ? late : failure, costNanoDollars: this.#costNanoDollars };
    } finally {
      clearTimeout(deadline);
      this.#settle(outcome);
    }
  }

  get #costNanoDollars(): number | null {
    return costInNanoDollars(this.#options.charge, "tool", NO_USAGE);
  }

  #settle(outcome: ToolSettlement["outcome"]): void {
    const { caller, tool, reservation, startedAt, onSettled } = this.#options;
    const costNanoDollars = this.#costNanoDollars;
    reservation.settle(NO_USAGE, costNanoDollars);
    const durationSeconds = (performance.now() - this.#beganAt) / 1000;
    onSettled({ caller, tool, outcome, costNanoDollars, startedAt, durationSeconds });
  }
}
