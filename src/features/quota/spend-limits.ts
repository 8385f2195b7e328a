/** Enforces spend limits and budgets: the maximum cost of a request is reserved before it begins. */

import { maxCostInNanoDollars, mayCost } from "../../catalog/prices/cost.ts";
import type { Caller } from "../../contracts/caller.ts";
import type { Charge } from "../../contracts/price.ts";
import type { Counters } from "../../counters/counters.ts";
import { type Quota, type QuotaClaim, type Reservation, UNLIMITED } from "../../inference/quota.ts";
import { resultWithin } from "../../kernel/async/timeout.ts";
import { MINUTE_MS } from "../../kernel/durations.ts";
import { Fault } from "../../kernel/faults.ts";
import { growingCache } from "../../kernel/growing-cache.ts";
import type { Logger } from "../../kernel/logger.ts";
import { NO_USAGE } from "../../kernel/usage.ts";
import type { CompletionEstimates } from "./completion-estimates.ts";
import { refusalMessage, type SpendBound, type SpendScope, type SpentAmount, thresholdOf } from "./spend-bound.ts";
import { COUNTER_SECONDS, type SpendWindow } from "./spend-window.ts";

export interface SpendLimitsOptions {
  counters: Counters;
  /** Bounds that apply to a request, which started at this time (epoch milliseconds). */
  boundsOf: (caller: Caller, startedAt: number) => readonly SpendBound[];
  /** Nano-dollars that a scope has spent in a window; unless `isExact` is false, with what is about to be recorded. */
  spentIn: (scope: SpendScope, window: SpendWindow, isExact?: boolean) => Promise<number>;
  estimates: CompletionEstimates;
  logger: Logger;
  /** Called with the catalog ID. */
  onRefused: (model: string) => void;
  /** Called for each bound of a request that was refused or has ended; its cost may not be recorded yet. */
  onSpent?: (spent: SpentAmount) => void;
}

/** Longest wait of a request for the amount spent so far, when the database is slow or unavailable. */
const MAX_WAIT_MS = 2_000;
const RETRY_MS = 1_000;
/** Bounds for how long a counter can stay behind the records, whatever made it so. */
const COMPARE_MS = 10 * MINUTE_MS;
/** A million dollars per request, so that sums stay below 2^53. */
const MAX_NANO_DOLLARS = 1e15;
/** Reserved where the cost has no bound, as that of a provider's tools: a limit that is reached refuses the request. */
const LEAST_NANO_DOLLARS = 1;
/** Tokens of the largest image of the best quality, for models whose price is per token. */
const MAX_TOKENS_PER_IMAGE = 6_500;
/** Assumed bit rate of uploads, whose duration is unknown before decoding: that of common speech files. */
const BYTES_PER_SECOND = 4_000;
/** Counters that are remembered as compared; comparing once more has no effect. */
const MAX_COMPARED = 50_000;

/** Comparison of a counter with the records. */
interface Comparison {
  /** Generation of the counters before it. */
  generation: number;
  /** When the next one is due, by `performance.now()`. */
  isDueAt: number;
  /** What requests wait for; undefined: nothing more. */
  awaited: Promise<unknown> | undefined;
}

export class SpendLimits implements Quota {
  readonly #options: SpendLimitsOptions;
  readonly #comparisons = growingCache<Comparison>(MAX_COMPARED);

  constructor(options: SpendLimitsOptions) {
    this.#options = options;
  }

  reserve(claim: QuotaClaim): Reservation | Promise<Reservation> {
    const bounds = this.#options.boundsOf(claim.caller, claim.startedAt);
    if (bounds.length === 0) return UNLIMITED;
    const charges = claim.charges().filter(mayCost);
    return charges.length === 0 ? UNLIMITED : this.#take(claim, bounds, this.#maxCost(claim, charges));
  }

  async countRecorded(caller: Caller, at: number): Promise<void> {
    const { counters, onSpent } = this.#options;
    const bounds = this.#options.boundsOf(caller, at);
    if (bounds.length === 0) return;
    await Promise.all(bounds.map((bound) => this.#raise(bound, false)));
    const buckets = await this.#bucketsOf(bounds);
    const { used } = await counters.take(buckets.map((bucket) => ({ ...bucket, amount: 0, isReserved: false })));
    for (const { key, bound } of buckets) onSpent?.({ bound, atMost: used[key] ?? 0 });
  }

  async #take(claim: QuotaClaim, bounds: readonly SpendBound[], amount: number): Promise<Reservation> {
    const { counters, logger, onRefused, onSpent } = this.#options;
    const take = async () => {
      const { generation } = counters;
      const buckets = (await this.#bucketsOf(bounds)).map((bucket) => ({ ...bucket, amount, isReserved: true }));
      const outcome = await counters.take(buckets);
      return { buckets, outcome, isCertain: counters.generation === generation };
    };
    let { buckets, outcome, isCertain } = await take();
    if (outcome.granted && !isCertain) {
      // It may have counted where usage is lost.
      const released = buckets.map((bucket) => ({ ...bucket, difference: -amount }));
      await counters.settle(outcome.reservation, released);
      ({ buckets, outcome } = await take());
    }
    const noteSpent = () => {
      for (const { key, bound } of buckets) onSpent?.({ bound, atMost: outcome.used[key] ?? 0 });
    };
    if (!outcome.granted) {
      onRefused(claim.catalogId ?? "");
      noteSpent();
      const bound = buckets.find(({ key }) => key === outcome.key)?.bound ?? (bounds[0] as SpendBound);
      const message = refusalMessage(bound, outcome.used[outcome.key] ?? 0, amount);
      throw new Fault("quota-exhausted", message, { code: "insufficient_quota" });
    }
    for (const { key, bound } of buckets) {
      const isWarned = bound.budget === undefined && !bound.isEnforcing;
      if (isWarned && (outcome.used[key] ?? 0) > thresholdOf(bound))
        logger.warn({ scopeId: bound.scope.id }, "a spend limit with inactive enforcement is exceeded");
    }
    const { reservation } = outcome;
    return {
      rateLimitStatus: {},
      settle: (_usage, costNanoDollars) => {
        const difference = (costNanoDollars ?? 0) - amount;
        const corrections = buckets.map(({ key, windowSeconds }) => ({ key, windowSeconds, amount, difference }));
        noteSpent();
        counters.settle(reservation, corrections).catch((error: unknown) => {
          logger.warn({ err: error }, "the cost of a request could not be settled");
        });
      },
    };
  }

  #maxCost(claim: QuotaClaim, charges: readonly Charge[]): number {
    const { operation, upperBound: computeUpperBound } = claim;
    if (operation === undefined) return LEAST_NANO_DOLLARS;
    const upperBound = computeUpperBound();
    const { images = 0 } = upperBound;
    const completionTokens = upperBound.completionTokens ?? this.#options.estimates.estimate(claim);
    const usage = {
      ...NO_USAGE,
      promptTokens: upperBound.promptTokens,
      completionTokens: completionTokens + images * MAX_TOKENS_PER_IMAGE,
      ...(images > 0 && { details: { images } }),
      characters: upperBound.characters,
      audioSeconds: upperBound.audioSeconds ?? upperBound.audioBytes / BYTES_PER_SECOND,
    };
    const costs = charges.map((charge) => maxCostInNanoDollars(charge, operation, usage) ?? 0);
    return Math.min(MAX_NANO_DOLLARS, Math.max(LEAST_NANO_DOLLARS, ...costs));
  }

  /** What counts for these bounds, once it is compared with the records where that is due. */
  async #bucketsOf(bounds: readonly SpendBound[]) {
    const awaited = bounds.map((bound) => this.#compareWithRecords(bound)).filter((each) => each !== undefined);
    if (awaited.length > 0) await Promise.all(awaited);
    return bounds.map((bound) => {
      const limit = bound.isEnforcing ? thresholdOf(bound) : Number.MAX_SAFE_INTEGER;
      return { bound, key: bound.countId, limit, windowSeconds: COUNTER_SECONDS[bound.period] };
    });
  }

  /**
   * Compares a counter with the records at its first use and when counts may be lacking, for which requests wait, and
   * now and then, for which they do not.
   */
  #compareWithRecords(bound: SpendBound): Promise<unknown> | undefined {
    const { generation } = this.#options.counters;
    const last = this.#comparisons.get(bound.countId);
    if (last?.generation === generation) {
      if (performance.now() >= last.isDueAt) this.#compare(bound, last, false).catch(() => {});
      return last.awaited;
    }
    const comparison: Comparison = { generation, isDueAt: 0, awaited: undefined };
    const raised = this.#compare(bound, comparison, true).catch((error: unknown) => {
      const { subject } = bound.scope;
      this.#options.logger.warn({ err: error, subject }, "the amount spent so far could not be loaded yet");
    });
    comparison.awaited = resultWithin(raised, MAX_WAIT_MS).finally(() => {
      comparison.awaited = undefined;
    });
    this.#comparisons.set(bound.countId, comparison);
    return comparison.awaited;
  }

  /** Without the database, what is counted has to do until the next attempt. */
  async #compare(bound: SpendBound, comparison: Comparison, isExact: boolean): Promise<void> {
    comparison.isDueAt = performance.now() + COMPARE_MS;
    try {
      await this.#raise(bound, isExact);
    } catch (error) {
      comparison.isDueAt = performance.now() + RETRY_MS;
      throw error;
    }
  }

  async #raise({ scope, period, window, countId }: SpendBound, isExact: boolean): Promise<void> {
    const spent = await this.#options.spentIn(scope, window, isExact);
    await this.#options.counters.raise(countId, COUNTER_SECONDS[period], spent);
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
    ...(first.countRecorded && { countRecorded: first.countRecorded.bind(first) }),
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
