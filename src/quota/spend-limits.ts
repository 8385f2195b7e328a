/** Holds what is spent in a calendar month to limits: what a request may cost is taken before it begins. */

import type { Caller } from "../accounts/caller.ts";
import { resultWithin } from "../async/timeout.ts";
import type { Counters } from "../counters/counters.ts";
import { Fault } from "../faults.ts";
import type { Logger } from "../observability/logger.ts";
import { costInNanoDollars } from "../usage/cost.ts";
import type { CompletionEstimates } from "./completion-estimates.ts";
import { type Claim, type Quota, type Reservation, UNLIMITED, type Used } from "./quota.ts";

export interface SpendLimit {
  /** An organization, a project or a key. */
  scopeId: string;
  thresholdCents: number;
  /** 0: only told in the log. */
  isEnforcing: number;
  /** Names the limit: one that is changed counts on, with what runs; one that is set anew after none begins anew. */
  begunAt: number;
}

export interface SpendLimitsOptions {
  counters: Counters;
  limitsOf: (caller: Caller) => readonly SpendLimit[];
  /** Nano-dollars that a scope has spent since `from`, epoch milliseconds. */
  spentSince: (caller: Caller, scopeId: string, from: number) => Promise<number>;
  estimates: CompletionEstimates;
  logger: Logger;
  /** Told the catalog id. */
  onRefused: (model: string) => void;
}

const NANO_DOLLARS_PER_CENT = 10_000_000;
/** Longer than any month, so that nothing of it is forgotten before its end. */
const WINDOW_SECONDS = 32 * 86_400;
/** No request waits longer to learn what was spent before, nor does each of them ask a database that is away. */
const WAIT_MILLISECONDS = 2_000;
const RETRY_MILLISECONDS = 1_000;
/** A million dollars: counters hold sums of such amounts, and no more than a caller's own bound could be greater. */
const MOST_NANO_DOLLARS = 1e15;
/** Of recordings, whose length is not known before they are decoded: that of common speech files. */
const BYTES_PER_SECOND = 4_000;

export class SpendLimits implements Quota {
  readonly #options: SpendLimitsOptions;
  /** The limits whose counter knows what was spent before, or, as a promise, is being told. */
  readonly #begun = new Map<string, Promise<void> | "begun">();
  /** When the month of those began. */
  #month = 0;

  constructor(options: SpendLimitsOptions) {
    this.#options = options;
  }

  reserve(claim: Claim): Reservation | Promise<Reservation> {
    const limits = this.#options.limitsOf(claim.caller);
    const amount = limits.length === 0 ? 0 : this.#mostCost(claim);
    return amount > 0 ? this.#take(claim, limits, amount) : UNLIMITED;
  }

  async #take(claim: Claim, limits: readonly SpendLimit[], amount: number): Promise<Reservation> {
    const { counters, logger, onRefused } = this.#options;
    const buckets = await Promise.all(
      limits.map(async (limit) => ({ ...(await this.#bucketOf(claim.caller, limit)), amount, isHeld: true })),
    );
    const taken = await counters.take(buckets);
    if (!taken.granted) {
      onRefused(claim.catalogId ?? "");
      throw this.#refusal(taken.key, taken.used[taken.key] ?? 0, amount, buckets);
    }
    for (const { scopeId, key, isWarning, threshold } of buckets) {
      if (isWarning && (taken.used[key] ?? 0) > threshold)
        logger.warn({ scopeId }, "a spend limit that only warns is passed");
    }
    return {
      standing: {},
      settle: (used) => {
        const difference = (used.costNanoDollars ?? 0) - amount;
        const corrections = buckets.map((bucket) => ({ ...bucket, difference }));
        counters.settle(taken.reservation, corrections).catch((error: unknown) => {
          logger.warn({ err: error }, "what was spent could not be settled");
        });
      },
    };
  }

  #mostCost(claim: Claim): number {
    const { operation, prices, most: mostOf } = claim;
    if (operation === undefined) return 0;
    const most = mostOf();
    const use = {
      operation,
      promptTokens: most.promptTokens,
      cachedTokens: 0,
      completionTokens: most.completionTokens ?? this.#options.estimates.estimate(claim),
      characters: most.characters,
      audioMilliseconds: Math.ceil((most.audioBytes / BYTES_PER_SECOND) * 1000),
    };
    return Math.min(MOST_NANO_DOLLARS, Math.max(0, ...prices.map((price) => costInNanoDollars(price, use) ?? 0)));
  }

  async #bucketOf(caller: Caller, { scopeId, thresholdCents, isEnforcing, begunAt }: SpendLimit) {
    const now = new Date();
    const from = Date.UTC(now.getUTCFullYear(), now.getUTCMonth());
    // Nobody asks for an earlier month's again.
    if (from !== this.#month) this.#begun.clear();
    this.#month = from;
    // Of the same epoch, so that counts that were lost are begun anew.
    const key = `spend ${scopeId} ${from} ${begunAt} ${this.#options.counters.epoch}`;
    let begun = this.#begun.get(key);
    if (begun === undefined) {
      begun = this.#begin(caller, scopeId, from, key);
      this.#begun.set(key, begun);
    }
    if (begun !== "begun") await resultWithin(begun, WAIT_MILLISECONDS);
    const threshold = thresholdCents * NANO_DOLLARS_PER_CENT;
    const limit = isEnforcing === 1 ? threshold : Number.MAX_SAFE_INTEGER;
    return { scopeId, key, limit, threshold, isWarning: isEnforcing === 0, windowSeconds: WINDOW_SECONDS };
  }

  /** The counter begins with what the month has cost so far. */
  async #begin(caller: Caller, scopeId: string, from: number, key: string): Promise<void> {
    try {
      const spent = await this.#options.spentSince(caller, scopeId, from);
      const counted = await this.#countedAs(key);
      await this.#options.counters.begin(key, WINDOW_SECONDS, Math.max(0, spent - counted));
      this.#begun.set(key, "begun");
    } catch (error) {
      // Without its database the service goes on, and counts from here until it is back.
      setTimeout(() => this.#begun.delete(key), RETRY_MILLISECONDS).unref();
      this.#options.logger.warn({ err: error, scopeId }, "what was spent this month is not known yet");
    }
  }

  /** What passed while the database was away, which tells of it as well once it is back. */
  async #countedAs(key: string): Promise<number> {
    const nothing = { key, amount: 0, limit: Number.MAX_SAFE_INTEGER, windowSeconds: WINDOW_SECONDS, isHeld: false };
    return (await this.#options.counters.take([nothing])).used[key] ?? 0;
  }

  #refusal(
    key: string,
    used: number,
    amount: number,
    buckets: readonly { key: string; scopeId: string; threshold: number }[],
  ): Fault {
    const { scopeId = "", threshold = 0 } = buckets.find((bucket) => bucket.key === key) ?? {};
    const dollars = (nanoDollars: number) => `$${(nanoDollars / 1e9).toFixed(6)}`;
    const message = `The monthly spend limit of ${scopeId} is reached: Limit ${dollars(threshold)}, Used ${dollars(used)}, this request up to ${dollars(amount)}. It begins anew with the next month (UTC), or when an administrator raises it.`;
    return new Fault("quota-exhausted", message, { code: "insufficient_quota" });
  }
}

/**
 * Both must have room; what the first took is given back when the second has none, so that the first must be one that
 * gives back all: a request that was counted stays so, money does not. Learns how long answers are.
 */
export function bothQuotas(first: Quota, second: Quota, estimates: CompletionEstimates): Quota {
  const reserveSecond = (claim: Claim, one: Reservation): Reservation | Promise<Reservation> => {
    try {
      const other = second.reserve(claim);
      return other instanceof Promise
        ? other.then(
            (granted) => together(claim, one, granted),
            (failure) => giveBack(one, failure),
          )
        : together(claim, one, other);
    } catch (failure) {
      return giveBack(one, failure);
    }
  };
  const together = (claim: Claim, one: Reservation, other: Reservation): Reservation => ({
    standing: { ...one.standing, ...other.standing },
    settle: (used) => {
      estimates.learn(claim, used.completionTokens);
      one.settle(used);
      other.settle(used);
    },
  });
  return {
    reserve: (claim) => {
      const one = first.reserve(claim);
      return one instanceof Promise ? one.then((granted) => reserveSecond(claim, granted)) : reserveSecond(claim, one);
    },
  };
}

const NOTHING: Used = { promptTokens: 0, completionTokens: 0, costNanoDollars: null };

function giveBack(reservation: Reservation, failure: unknown): never {
  reservation.settle(NOTHING);
  throw failure;
}
