/** Limits how often a key signs in to the console, across replicas: each time makes all of them read their keys again. */

import type { Counters } from "../../counters/counters.ts";
import { MINUTE_SECONDS } from "../../kernel/durations.ts";
import { Fault } from "../../kernel/faults.ts";

const WINDOW_SECONDS = 15 * MINUTE_SECONDS;
/** Twice the sessions that a key can have. */
const MAX_SIGN_INS = 100;

export class KeySignIns {
  readonly #counters: Counters;

  constructor(counters: Counters) {
    this.#counters = counters;
  }

  /** Counts a sign-in with a key that works. Throws a Fault after too many. */
  async count(keyId: string): Promise<void> {
    const key = `sign-ins of ${keyId}`;
    const claim = { key, amount: 1, limit: MAX_SIGN_INS, windowSeconds: WINDOW_SECONDS, isReserved: false };
    const outcome = await this.#counters.take([claim]);
    if (outcome.granted) return;
    const { retryAfterSeconds } = outcome;
    const minutes = Math.ceil(retryAfterSeconds / MINUTE_SECONDS);
    const message = `This key signed in to the console ${MAX_SIGN_INS} times within ${WINDOW_SECONDS / MINUTE_SECONDS} minutes, the limit. Try again in ${minutes} min, or use a session that you have.`;
    throw new Fault("request-rate-limited", message, { code: "too_many_attempts", retryAfterSeconds });
  }
}
