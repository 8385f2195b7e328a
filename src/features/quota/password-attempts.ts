/** Limits attempts to sign in with a password, by account and address, across replicas. */

import { hash } from "node:crypto";
import type { CounterClaim, Counters } from "../../counters/counters.ts";
import { MINUTE_SECONDS } from "../../kernel/durations.ts";
import { Fault } from "../../kernel/faults.ts";
import { networkOf } from "./failed-authentications.ts";

const WINDOW_SECONDS = 15 * MINUTE_SECONDS;
/** Failures for one account from one network; more networks together lock an account out. */
const MAX_BY_ACCOUNT_AND_NETWORK = 10;
const MAX_BY_ACCOUNT = 100;
/** Failures from one network for all accounts, against a common password that is tried with each. */
const MAX_BY_NETWORK = 50;
/** Attempts of one network that wait for their hash, so that it does not fill the queue of all. */
const MAX_PENDING_BY_NETWORK = 8;

export class PasswordAttempts {
  readonly #counters: Counters;
  /** Attempts that are being verified, by network. */
  readonly #pending = new Map<string, number>();

  constructor(counters: Counters) {
    this.#counters = counters;
  }

  /**
   * Counts an attempt before the password is verified, and takes it back when `verify` resolves with a result. Throws a
   * Fault after too many failures, of the account or of the network, and for too many attempts at the same time; the
   * password is then not even verified, so that guessing on is useless and costs no hash.
   */
  async try<Result>(
    account: string,
    address: string,
    verify: () => Promise<Result | undefined>,
  ): Promise<Result | undefined> {
    const network = networkOf(address);
    const pending = this.#pending.get(network) ?? 0;
    if (pending >= MAX_PENDING_BY_NETWORK) throw tooManyPending();
    this.#pending.set(network, pending + 1);
    try {
      return await this.#count(claimsOf(account, network), verify);
    } finally {
      const remaining = (this.#pending.get(network) ?? 1) - 1;
      if (remaining === 0) this.#pending.delete(network);
      else this.#pending.set(network, remaining);
    }
  }

  async #count<Result>(
    claims: readonly CounterClaim[],
    verify: () => Promise<Result | undefined>,
  ): Promise<Result | undefined> {
    const outcome = await this.#counters.take(claims);
    if (!outcome.granted) throw tooManyFailures(outcome.retryAfterSeconds);
    let isWrong = false;
    try {
      const result = await verify();
      isWrong = result === undefined;
      return result;
    } finally {
      const difference = isWrong ? 0 : -1;
      const corrections = claims.map(({ key, windowSeconds, amount }) => ({ key, windowSeconds, amount, difference }));
      await this.#counters.settle(outcome.reservation, corrections);
    }
  }
}

function claimsOf(account: string, network: string): CounterClaim[] {
  // Addresses do not belong into the counters' store.
  const name = hash("sha256", account.trim().toLowerCase()).slice(0, 32);
  return [
    { key: `passwords ${name} ${network}`, limit: MAX_BY_ACCOUNT_AND_NETWORK },
    { key: `passwords ${name}`, limit: MAX_BY_ACCOUNT },
    { key: `passwords of ${network}`, limit: MAX_BY_NETWORK },
  ].map((each) => ({ ...each, amount: 1, windowSeconds: WINDOW_SECONDS, isReserved: true }));
}

function tooManyFailures(retryAfterSeconds: number): Fault {
  const minutes = Math.ceil(retryAfterSeconds / MINUTE_SECONDS);
  const message = `Too many wrong passwords for this account or from your address. Try again in ${minutes} min, or ask an administrator for a link to set another password.`;
  return new Fault("request-rate-limited", message, { code: "too_many_attempts", retryAfterSeconds });
}

function tooManyPending(): Fault {
  const message = `At most ${MAX_PENDING_BY_NETWORK} passwords from your address are checked at the same time. Try again in a moment.`;
  return new Fault("request-rate-limited", message, { code: "too_many_attempts", retryAfterSeconds: 1 });
}
