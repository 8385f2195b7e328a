/** Limits how often one changes keys and sessions of one's own, across replicas: all of them read their keys again then. */

import type { Counters } from "../../counters/counters.ts";
import { MINUTE_SECONDS } from "../../kernel/durations.ts";
import { Fault } from "../../kernel/faults.ts";

const WINDOW_SECONDS = 15 * MINUTE_SECONDS;
/** Twice the sessions that a key or user can have. */
const MAX_CHANGES = 100;

export class SelfServiceLimit {
  readonly #counters: Counters;

  constructor(counters: Counters) {
    this.#counters = counters;
  }

  /** Counts a change under this name, such as `changes of user_…`. Throws a Fault after too many. */
  async count(name: string): Promise<void> {
    const claim = { key: name, amount: 1, limit: MAX_CHANGES, windowSeconds: WINDOW_SECONDS, isReserved: false };
    const outcome = await this.#counters.take([claim]);
    if (outcome.granted) return;
    const { retryAfterSeconds } = outcome;
    const minutes = Math.ceil(retryAfterSeconds / MINUTE_SECONDS);
    const message = `Your sessions and keys changed ${MAX_CHANGES} times within ${WINDOW_SECONDS / MINUTE_SECONDS} minutes, the limit. Try again in ${minutes} min, or use those that you have, which you can end at any time.`;
    throw new Fault("request-rate-limited", message, { code: "too_many_attempts", retryAfterSeconds });
  }
}
