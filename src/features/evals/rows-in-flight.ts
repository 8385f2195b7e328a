/** The rows of a run that are asked and graded now, and whether all of them wait for limits and models that refuse them. */

import { setTimeout as pause } from "node:timers/promises";
import type { InternalAnswer } from "../../http/internal-requests.ts";
import { isRefusal, refusalWaitMs } from "../../kernel/jobs/refusal.ts";
import { Standstill } from "../../kernel/jobs/standstill.ts";
import type { ModelCalls } from "./ask-model.ts";

export interface StandstillEnd {
  retryAfterMs: number;
  /** The last one. */
  refusal: InternalAnswer;
}

/** Stops a row that no model has answered, because all rows wait. */
export class RowStopped extends Error {}

class RowInFlight {
  readonly stopping = new AbortController();
  running = 0;
  /** Whether its last answer was a refusal. */
  isRefused = false;
  /** Whether a model has answered, which costs money. */
  isAnswered = false;
}

export class RowsInFlight {
  readonly #rows = new Set<RowInFlight>();
  readonly #standstill = new Standstill();
  #end: StandstillEnd | undefined;

  /**
   * Set once all rows have waited for too long: no further one is to begin. Rows without an answer have been stopped,
   * the others come to their end.
   */
  get end(): StandstillEnd | undefined {
    return this.#end;
  }

  /**
   * Runs one row with its calls. A refused request waits until it is answered, for as long as the row is not stopped;
   * then rejects with a RowStopped.
   */
  async run<Result>(calls: ModelCalls, work: (calls: ModelCalls) => Promise<Result>): Promise<Result> {
    const row = new RowInFlight();
    this.#rows.add(row);
    const signal = AbortSignal.any([calls.signal, row.stopping.signal]);
    try {
      const result = await work({
        ...calls,
        signal,
        requests: { run: (request, ended) => this.#request(row, () => calls.requests.run(request, ended)) },
        waitForRoom: async (refusal) => {
          // Stopped, it would pay for its answers again: it comes to its end by its attempts.
          if (row.isAnswered) return false;
          await pause(refusalWaitMs(refusal.retryAfterSeconds), undefined, { signal });
          return true;
        },
      });
      this.#standstill.progress();
      return result;
    } finally {
      this.#rows.delete(row);
    }
  }

  async #request(row: RowInFlight, run: () => Promise<InternalAnswer>): Promise<InternalAnswer> {
    row.running += 1;
    row.isRefused = false;
    const answer = await run().finally(() => {
      row.running -= 1;
    });
    row.isRefused = isRefusal(answer);
    if (row.isRefused) this.#refused(answer);
    else if (answer.status < 400) row.isAnswered = true;
    return answer;
  }

  #refused(refusal: InternalAnswer): void {
    this.#standstill.refused(refusal.retryAfterSeconds);
    const { end } = this.#standstill;
    if (end === undefined || !this.#rows.values().every(({ running, isRefused }) => running === 0 && isRefused)) return;
    this.#end = { ...end, refusal };
    for (const { isAnswered, stopping } of this.#rows) if (!isAnswered) stopping.abort(new RowStopped());
  }
}
