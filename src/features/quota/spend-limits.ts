/** Enforces spend limits and budgets: the maximum cost of a request is reserved before it begins. */

import { maxCostInNanoDollars, mayCost } from "../../catalog/prices/cost.ts";
import type { Caller } from "../../contracts/caller.ts";
import type { Charge } from "../../contracts/price.ts";
import type { Counters } from "../../counters/counters.ts";
import { type Quota, type QuotaClaim, type Reservation, UNLIMITED } from "../../inference/quota.ts";
import { resultWithin } from "../../kernel/async/timeout.ts";
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
  /** Nano-dollars that a scope has spent in a window. */
  spentIn: (scope: SpendScope, window: SpendWindow) => Promise<number>;
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
/** A million dollars per request, so that sums stay below 2^53. */
const MAX_NANO_DOLLARS = 1e15;
/** Reserved where the cost has no bound, as that of a provider's tools: a limit that is reached refuses the request. */
const LEAST_NANO_DOLLARS = 1;
/** Tokens of the largest image of the best quality, for models whose price is per token. */
const MAX_TOKENS_PER_IMAGE = 6_500;
/** Assumed bit rate of uploads, whose duration is unknown before decoding: that of common speech files. */
const BYTES_PER_SECOND = 4_000;
/** Counts that are remembered as begun; beginning again has no effect. */
const MAX_BEGUN = 50_000;

export class SpendLimits implements Quota {
  readonly #options: SpendLimitsOptions;
  /** Counters that know the amount spent so far, by key and outage, or a promise while that is loading. */
  readonly #begun = growingCache<Promise<void> | "begun">(MAX_BEGUN);

  /** What running requests of this process have reserved, by key. */
  readonly #reserved = new Map<string, number>();

  constructor(options: SpendLimitsOptions) {
    this.#options = options;
  }

  reserve(claim: QuotaClaim): Reservation | Promise<Reservation> {
    const bounds = this.#options.boundsOf(claim.caller, claim.startedAt);
    if (bounds.length === 0) return UNLIMITED;
    const charges = claim.charges().filter(mayCost);
    return charges.length === 0 ? UNLIMITED : this.#take(claim, bounds, this.#maxCost(claim, charges));
  }

  /** Counters begin before the cost is recorded: one that began later would contain it already. */
  async beginSpending(caller: Caller, at: number): Promise<(nanoDollars: number) => Promise<void>> {
    return this.#beginSpending(this.#options.boundsOf(caller, at));
  }

  async #beginSpending(bounds: readonly SpendBound[]): Promise<(nanoDollars: number) => Promise<void>> {
    const buckets = await Promise.all(bounds.map(async (bound) => await this.#bucketOf(bound)));
    return async (nanoDollars) => {
      const { counters, onSpent } = this.#options;
      const limit = Number.MAX_SAFE_INTEGER;
      const amount = Math.min(MAX_NANO_DOLLARS, nanoDollars);
      if (buckets.length === 0 || amount <= 0) return;
      const { used } = await counters.take(buckets.map((bucket) => ({ ...bucket, amount, limit, isReserved: false })));
      for (const { key, bound } of buckets) onSpent?.({ bound, atMost: used[key] ?? 0 });
    };
  }

  async #take(claim: QuotaClaim, bounds: readonly SpendBound[], amount: number): Promise<Reservation> {
    const { counters, logger, onRefused, onSpent } = this.#options;
    const { epoch } = counters;
    const buckets = await Promise.all(
      bounds.map(async (bound) => ({ ...(await this.#bucketOf(bound)), amount, isReserved: true })),
    );
    const outcome = await counters.take(buckets);
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
    for (const { key } of buckets) this.#addReserved(key, amount);
    return {
      rateLimitStatus: {},
      settle: (_usage, costNanoDollars) => {
        const difference = (costNanoDollars ?? 0) - amount;
        const corrections = buckets.map(({ key, windowSeconds }) => ({ key, windowSeconds, amount, difference }));
        noteSpent();
        const settling = counters.settle(outcome.reservation, corrections).finally(() => {
          for (const { key } of buckets) this.#addReserved(key, -amount);
        });
        const settled = [settling];
        if (counters.epoch !== epoch) settled.push(this.#countAgain(bounds, costNanoDollars ?? 0));
        Promise.all(settled).catch((error: unknown) => {
          logger.warn({ err: error }, "the cost of a request could not be settled");
        });
      },
    };
  }

  #addReserved(key: string, amount: number): void {
    const sum = (this.#reserved.get(key) ?? 0) + amount;
    if (sum > 0) this.#reserved.set(key, sum);
    else this.#reserved.delete(key);
  }

  /** Counts a request that ran while the counts were lost: the next ones began before its cost was recorded. */
  async #countAgain(bounds: readonly SpendBound[], nanoDollars: number): Promise<void> {
    const count = await this.#beginSpending(bounds);
    await count(nanoDollars);
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

  async #bucketOf(bound: SpendBound) {
    // The epoch makes counters that were lost start over.
    const key = `${bound.countId} ${this.#options.counters.epoch}`;
    let begun = this.#begun.get(key);
    if (begun === undefined) {
      begun = this.#begin(bound, key);
      this.#begun.set(key, begun);
    } else if (begun === "begun") begun = this.#noteSpent(bound, key);
    if (begun !== "begun") await resultWithin(begun, MAX_WAIT_MS);
    const limit = bound.isEnforcing ? thresholdOf(bound) : Number.MAX_SAFE_INTEGER;
    return { bound, key, limit, windowSeconds: COUNTER_SECONDS[bound.period] };
  }

  /** Initializes the counter with what the window has cost so far. */
  async #begin({ scope, period, window }: SpendBound, key: string): Promise<void> {
    const windowSeconds = COUNTER_SECONDS[period];
    try {
      const spent = await this.#options.spentIn(scope, window);
      const reserved = this.#reserved.get(key) ?? 0;
      const counted = Math.max(0, (await this.#amountCounted(key, windowSeconds)) - reserved);
      await this.#options.counters.begin(key, windowSeconds, Math.max(0, spent - counted));
      this.#begun.set(key, "begun");
      this.#begun.set(this.#inOutage(key), "begun");
    } catch (error) {
      // Without the database the service keeps running and counts from zero until the next attempt.
      setTimeout(() => this.#begun.delete(key), RETRY_MS).unref();
      const { subject } = scope;
      this.#options.logger.warn({ err: error, subject }, "the amount spent so far could not be loaded yet");
    }
  }

  /**
   * Reads once per outage what all replicas have spent, which this one last heard with its last request. Without the
   * database, that has to do.
   */
  #noteSpent({ scope, period, window }: SpendBound, key: string): Promise<void> | "begun" {
    const { spentIn, counters } = this.#options;
    const name = this.#inOutage(key);
    const noted = this.#begun.get(name);
    if (noted !== undefined) return noted;
    const note = async () => {
      // The database may hang as the counters do: requests wait for it once.
      const spent = await resultWithin(spentIn(scope, window), MAX_WAIT_MS).catch(() => undefined);
      if (spent !== undefined) await counters.noteUsed(key, COUNTER_SECONDS[period], spent);
      this.#begun.set(name, "begun");
    };
    const noting = note();
    this.#begun.set(name, noting);
    return noting;
  }

  /** Name of a counter in the present outage of the counters; without one, its key. */
  #inOutage(key: string): string {
    const { outage } = this.#options.counters;
    return outage === 0 ? key : `${key} ${outage}`;
  }

  /** Amount counted while the database was unavailable. The usage records have it too, but for what is only reserved. */
  async #amountCounted(key: string, windowSeconds: number): Promise<number> {
    const nothing = { key, amount: 0, limit: Number.MAX_SAFE_INTEGER, windowSeconds, isReserved: false };
    return (await this.#options.counters.take([nothing])).used[key] ?? 0;
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
    ...(first.beginSpending && { beginSpending: first.beginSpending.bind(first) }),
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
