/** Limits how often sessions of the console change, across replicas: each time makes all of them read their keys again. */

import type { Counters } from "../../counters/counters.ts";
import { MINUTE_SECONDS } from "../../kernel/durations.ts";
import { Fault } from "../../kernel/faults.ts";

const WINDOW_SECONDS = 15 * MINUTE_SECONDS;
/** Twice the sessions that a key or user can have. */
const MAX_CHANGES = 100;

export class SessionChanges {
  readonly #counters: Counters;

  constructor(counters: Counters) {
    this.#counters = counters;
  }

  /** Counts a sign-in with a key that works. Throws a Fault after too many. */
  async countSignIn(keyId: string): Promise<void> {
    await this.#count(`sign-ins of ${keyId}`, "This key signed in to the console", ", or use a session that you have");
  }

  /** Counts a choice of the project of a user's session. Throws a Fault after too many. */
  async countProjectChoice(userId: string): Promise<void> {
    await this.#count(`project choices of ${userId}`, "You chose the project of your session");
  }

  async #count(key: string, what: string, otherWay = ""): Promise<void> {
    const claim = { key, amount: 1, limit: MAX_CHANGES, windowSeconds: WINDOW_SECONDS, isReserved: false };
    const outcome = await this.#counters.take([claim]);
    if (outcome.granted) return;
    const { retryAfterSeconds } = outcome;
    const minutes = Math.ceil(retryAfterSeconds / MINUTE_SECONDS);
    const message = `${what} ${MAX_CHANGES} times within ${WINDOW_SECONDS / MINUTE_SECONDS} minutes, the limit. Try again in ${minutes} min${otherWay}.`;
    throw new Fault("request-rate-limited", message, { code: "too_many_attempts", retryAfterSeconds });
  }
}
