/** Enforces monthly spend limits: the maximum cost of a request is reserved before it begins. */

import type { Counters } from "../../counters/counters.ts";
import { resultWithin } from "../../kernel/async/timeout.ts";
import { DAY_SECONDS } from "../../kernel/durations.ts";
import { Fault } from "../../kernel/faults.ts";
import { NO_USAGE } from "../../kernel/usage.ts";
import type { Logger } from "../../observability/logger.ts";
import type { Caller } from "../accounts/caller.ts";
import { maxCostInNanoDollars } from "../usage/cost.ts";
import type { CompletionEstimates } from "./completion-estimates.ts";
import { type Quota, type QuotaClaim, type Reservation, UNLIMITED } from "./quota.ts";

export interface SpendLimit {
  /** An organization, a project or a key. */
  scopeId: string;
  thresholdCents: number;
  /** 0: only logs a warning. */
  isEnforcing: number;
  /** Identifies the limit: a changed limit keeps its count, a deleted and recreated one starts over. */
  begunAt: number;
}

/** Its start and end (exclusive) in epoch milliseconds. */
export interface Month {
  from: number;
  until: number;
}

export interface SpendLimitsOptions {
  counters: Counters;
  limitsOf: (caller: Caller) => readonly SpendLimit[];
  /** Nano-dollars that a scope has spent in a month. */
  spentIn: (caller: Caller, scopeId: string, month: Month) => Promise<number>;
  estimates: CompletionEstimates;
  logger: Logger;
  /** Called with the catalog ID. */
  onRefused: (model: string) => void;
  /** Called for each limit of a request that has ended; its cost may not be recorded yet. */
  onSpent?: (spent: SpentAmount) => void;
}

export interface SpentAmount {
  caller: Caller;
  limit: SpendLimit;
  month: Month;
  /** Nano-dollars, with what running requests have reserved: an upper bound. */
  atMost: number;
}

const NANO_DOLLARS_PER_CENT = 10_000_000;
/** Longer than any month: nothing expires before the month ends. */
const WINDOW_SECONDS = 32 * DAY_SECONDS;
/** Longest wait of a request for the amount spent so far, when the database is slow or unavailable. */
const MAX_WAIT_MS = 2_000;
const RETRY_MS = 1_000;
/** A million dollars per request, so that sums stay below 2^53. */
const MAX_NANO_DOLLARS = 1e15;
/** Assumed bit rate of uploads, whose duration is unknown before decoding: that of common speech files. */
const BYTES_PER_SECOND = 4_000;

export class SpendLimits implements Quota {
  readonly #options: SpendLimitsOptions;
  /** Counters that are initialized with the amount spent so far, or a promise while that is loading. */
  readonly #begun = new Map<string, Promise<void> | "begun">();
  /** Start of the month of those counters, epoch milliseconds. */
  #month = 0;

  constructor(options: SpendLimitsOptions) {
    this.#options = options;
  }

  reserve(claim: QuotaClaim): Reservation | Promise<Reservation> {
    const limits = this.#options.limitsOf(claim.caller);
    const amount = limits.length === 0 ? 0 : this.#maxCost(claim);
    return amount > 0 ? this.#take(claim, limits, amount) : UNLIMITED;
  }

  async #take(claim: QuotaClaim, limits: readonly SpendLimit[], amount: number): Promise<Reservation> {
    const { counters, logger, onRefused, onSpent } = this.#options;
    const buckets = await Promise.all(
      limits.map(async (limit) => ({ ...(await this.#bucketOf(claim, limit)), amount, isReserved: true })),
    );
    const outcome = await counters.take(buckets);
    if (!outcome.granted) {
      onRefused(claim.catalogId ?? "");
      throw this.#refusal(outcome.key, outcome.used[outcome.key] ?? 0, amount, buckets);
    }
    for (const { scopeId, key, isWarning, threshold } of buckets) {
      if (isWarning && (outcome.used[key] ?? 0) > threshold)
        logger.warn({ scopeId }, "a spend limit with inactive enforcement is exceeded");
    }
    return {
      rateLimitStatus: {},
      settle: (_usage, costNanoDollars) => {
        const difference = (costNanoDollars ?? 0) - amount;
        const corrections = buckets.map((bucket) => ({ ...bucket, difference }));
        for (const [index, limit] of limits.entries()) {
          const { key, month } = buckets[index] ?? {};
          if (key !== undefined && month !== undefined)
            onSpent?.({ caller: claim.caller, limit, month, atMost: outcome.used[key] ?? 0 });
        }
        counters.settle(outcome.reservation, corrections).catch((error: unknown) => {
          logger.warn({ err: error }, "the cost of a request could not be settled");
        });
      },
    };
  }

  #maxCost(claim: QuotaClaim): number {
    const { operation, charges, upperBound: computeUpperBound } = claim;
    if (operation === undefined) return 0;
    const upperBound = computeUpperBound();
    const usage = {
      ...NO_USAGE,
      promptTokens: upperBound.promptTokens,
      completionTokens: upperBound.completionTokens ?? this.#options.estimates.estimate(claim),
      characters: upperBound.characters,
      audioSeconds: upperBound.audioBytes / BYTES_PER_SECOND,
    };
    const costs = charges().map((charge) => maxCostInNanoDollars(charge, operation, usage) ?? 0);
    return Math.min(MAX_NANO_DOLLARS, Math.max(0, ...costs));
  }

  async #bucketOf({ caller, startedAt }: QuotaClaim, { scopeId, thresholdCents, isEnforcing, begunAt }: SpendLimit) {
    const start = new Date(startedAt);
    const from = Date.UTC(start.getUTCFullYear(), start.getUTCMonth());
    const until = Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + 1);
    // Counters of earlier months are not used again.
    if (from !== this.#month) this.#begun.clear();
    this.#month = from;
    // The epoch makes counters that were lost start over.
    const key = `spend ${scopeId} ${from} ${begunAt} ${this.#options.counters.epoch}`;
    let begun = this.#begun.get(key);
    if (begun === undefined) {
      begun = this.#begin(caller, scopeId, { from, until }, key);
      this.#begun.set(key, begun);
    }
    if (begun !== "begun") await resultWithin(begun, MAX_WAIT_MS);
    const threshold = thresholdCents * NANO_DOLLARS_PER_CENT;
    const limit = isEnforcing === 1 ? threshold : Number.MAX_SAFE_INTEGER;
    const month = { from, until };
    return { scopeId, key, limit, threshold, month, isWarning: isEnforcing === 0, windowSeconds: WINDOW_SECONDS };
  }

  /** Initializes the counter with what the month has cost so far. */
  async #begin(caller: Caller, scopeId: string, month: Month, key: string): Promise<void> {
    try {
      const spent = await this.#options.spentIn(caller, scopeId, month);
      const counted = await this.#amountCounted(key);
      await this.#options.counters.begin(key, WINDOW_SECONDS, Math.max(0, spent - counted));
      this.#begun.set(key, "begun");
    } catch (error) {
      // Without the database the service keeps running and counts from zero until the next attempt.
      setTimeout(() => this.#begun.delete(key), RETRY_MS).unref();
      this.#options.logger.warn({ err: error, scopeId }, "the amount spent this month could not be loaded yet");
    }
  }

  /** Amount counted while the database was unavailable, which the usage records contain too. */
  async #amountCounted(key: string): Promise<number> {
    const nothing = {
      key,
      amount: 0,
      limit: Number.MAX_SAFE_INTEGER,
      windowSeconds: WINDOW_SECONDS,
      isReserved: false,
    };
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
    const message = `The monthly spend limit of ${scopeId} is reached: Limit ${dollars(threshold)}, Used ${dollars(used)}, this request up to ${dollars(amount)}. It resets at the start of the next month (UTC), or when an administrator raises it.`;
    return new Fault("quota-exhausted", message, { code: "insufficient_quota" });
  }
}

/**
 * Reserves from both; releases the first reservation when the second refuses. The first must be fully releasable, like
 * money: a counted request stays counted. Also feeds the completion estimates.
 */
export function combineQuotas(first: Quota, second: Quota, estimates: CompletionEstimates): Quota {
  const reserveSecond = (claim: QuotaClaim, one: Reservation): Reservation | Promise<Reservation> => {
    try {
      const other = second.reserve(claim);
      return other instanceof Promise
        ? other.then(
            (granted) => combine(claim, one, granted),
            (failure) => release(one, failure),
          )
        : combine(claim, one, other);
    } catch (failure) {
      return release(one, failure);
    }
  };
  const combine = (claim: QuotaClaim, one: Reservation, other: Reservation): Reservation => ({
    rateLimitStatus: { ...one.rateLimitStatus, ...other.rateLimitStatus },
    settle: (usage, costNanoDollars) => {
      estimates.learn(claim, usage.completionTokens);
      one.settle(usage, costNanoDollars);
      other.settle(usage, costNanoDollars);
    },
  });
  return {
    reserve: (claim) => {
      const one = first.reserve(claim);
      return one instanceof Promise ? one.then((granted) => reserveSecond(claim, granted)) : reserveSecond(claim, one);
    },
  };
}

function release(reservation: Reservation, failure: unknown): never {
  reservation.settle(NO_USAGE, null);
  throw failure;
}
