/** Limits attempts to sign in with a password, by account and address, across replicas. */

import { hash } from "node:crypto";
import type { Counters } from "../../counters/counters.ts";
import { MINUTE_SECONDS } from "../../kernel/durations.ts";
import { Fault } from "../../kernel/faults.ts";
import { networkOf } from "./failed-authentications.ts";

const WINDOW_SECONDS = 15 * MINUTE_SECONDS;
/** Failures from one network; more networks together lock an account out. */
const MAX_BY_NETWORK = 10;
const MAX_BY_ACCOUNT = 100;

export class PasswordAttempts {
  readonly #counters: Counters;

  constructor(counters: Counters) {
    this.#counters = counters;
  }

  /**
   * Counts an attempt before the password is verified, and takes it back when `verify` resolves with a result. Throws a
   * Fault after too many failures; the password is then not even verified, so that guessing on is useless.
   */
  async try<Result>(
    account: string,
    address: string,
    verify: () => Promise<Result | undefined>,
  ): Promise<Result | undefined> {
    // Addresses do not belong into the counters' store.
    const name = hash("sha256", account.trim().toLowerCase()).slice(0, 32);
    const claims = [
      { key: `passwords ${name} ${networkOf(address)}`, limit: MAX_BY_NETWORK },
      { key: `passwords ${name}`, limit: MAX_BY_ACCOUNT },
    ].map((each) => ({ ...each, amount: 1, windowSeconds: WINDOW_SECONDS, isReserved: true }));
    const outcome = await this.#counters.take(claims);
    if (!outcome.granted) throw tooMany(outcome.retryAfterSeconds);
    const result = await verify();
    const difference = result === undefined ? 0 : -1;
    const corrections = claims.map(({ key, windowSeconds, amount }) => ({ key, windowSeconds, amount, difference }));
    await this.#counters.settle(outcome.reservation, corrections);
    return result;
  }
}

function tooMany(retryAfterSeconds: number): Fault {
  const minutes = Math.ceil(retryAfterSeconds / MINUTE_SECONDS);
  const message = `Too many wrong passwords for this account. Try again in ${minutes} min, or ask an administrator for a link to set another password.`;
  return new Fault("request-rate-limited", message, { code: "too_many_attempts", retryAfterSeconds });
}
