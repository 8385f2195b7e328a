/** Enforces rate limits on requests, tokens, audio, images and concurrency, taking all of them atomically. */

import type { CounterClaim, Counters, Taken, TakenReservation } from "../../counters/counters.ts";
import { type Quota, type QuotaClaim, type Reservation, UNLIMITED } from "../../inference/quota.ts";
import { DAY_SECONDS } from "../../kernel/durations.ts";
import { Fault, type FaultDetails, type RateLimitStatus } from "../../kernel/faults.ts";
import type { Logger } from "../../kernel/logger.ts";
import type { Usage } from "../../kernel/usage.ts";
import type { CompletionEstimates } from "./completion-estimates.ts";
import type { LimitedScope } from "./limits.ts";

export interface RateLimitsOptions {
  counters: Counters;
  /** Narrowest scope first. */
  scopesOf: (claim: QuotaClaim) => readonly LimitedScope[];
  estimates: CompletionEstimates;
  /** A request that was never settled because its process died stops counting as running after this. */
  requestTimeoutSeconds: number;
  logger: Logger;
  /** Called with the catalog ID, or an empty string, and the kind of limit. */
  onRefused: (model: string, limit: Kind) => void;
}

type Kind = "requests" | "daily-requests" | "tokens" | "audio" | "images" | "concurrent";

type Refused = Extract<Taken, { granted: false }>;

/** Kinds that are corrected when the request settles. */
const RESERVED_KINDS: ReadonlySet<Kind> = new Set(["tokens", "concurrent"]);

interface Bucket extends CounterClaim {
  kind: Kind;
  scope: LimitedScope;
}

const MINUTE_SECONDS = 60;
const BYTES_PER_MEGABYTE = 1_000_000;
/** Added to the request timeout, for the settlement. */
const SETTLING_SECONDS = 60;

const UNITS: Readonly<Record<Kind, string>> = {
  requests: "requests per min (RPM)",
  "daily-requests": "requests per day (RPD)",
  tokens: "tokens per min (TPM)",
  audio: "audio bytes per min",
  images: "images per min (IPM)",
  concurrent: "concurrent requests",
};

export class RateLimits implements Quota {
  readonly #options: RateLimitsOptions;

  constructor(options: RateLimitsOptions) {
    this.#options = options;
  }

  reserve(claim: QuotaClaim): Reservation | Promise<Reservation> {
    const scopes = this.#options.scopesOf(claim);
    if (scopes.length === 0) return UNLIMITED;
    const counted = this.#countedScopes(claim);
    const buckets = scopes.flatMap((scope) => this.#bucketsOf(scope, claim, counted.has(scope.key)));
    if (buckets.length > 0) return this.#take(claim, buckets);
    return claim.counted === undefined ? UNLIMITED : { ...UNLIMITED, rateLimitStatus: claim.counted.rateLimitStatus };
  }

  /** Returns the keys of the scopes in which the request counts already. */
  #countedScopes(claim: QuotaClaim): ReadonlySet<string> {
    const { counted } = claim;
    const scopes = counted === undefined ? [] : this.#options.scopesOf({ ...claim, ...counted });
    return new Set(scopes.map(({ key }) => key));
  }

  async #take(claim: QuotaClaim, buckets: readonly Bucket[]): Promise<Reservation> {
    const { counters, onRefused } = this.#options;
    const never = buckets.find((bucket) => neverFits(claim, bucket));
    if (never !== undefined) {
      onRefused(claim.catalogId ?? "", never.kind);
      throw tooLarge(claim, never);
    }
    const outcome = await counters.take(buckets);
    if (!outcome.granted) {
      const refused = refusedOf(buckets, outcome);
      onRefused(claim.catalogId ?? "", refused.kind);
      throw refusal(claim, buckets, refused, outcome);
    }
    const rateLimitStatus = toRateLimitStatus(claim, buckets, outcome.used);
    return { rateLimitStatus, settle: (usage) => this.#settle(buckets, outcome.reservation, usage) };
  }

  #bucketsOf(scope: LimitedScope, claim: QuotaClaim, isCounted: boolean): Bucket[] {
    const { operation, upperBound: computeUpperBound, isWithinRequest = false } = claim;
    const limits = claim.isBatch === true ? shareOf(scope.limits) : scope.limits;
    const upperBound = computeUpperBound();
    const completionTokens = upperBound.completionTokens ?? this.#options.estimates.estimate(claim);
    const tokens = upperBound.promptTokens + completionTokens;
    const runningSeconds = this.#options.requestTimeoutSeconds + SETTLING_SECONDS;
    const audio = multiply(limits.audioMegabytesPerMinute, BYTES_PER_MEGABYTE);
    const bucket = (kind: Kind, amount: number, limit: number | undefined, windowSeconds: number): Bucket[] =>
      limit === undefined
        ? []
        : [
            {
              kind,
              scope,
              key: `${scope.key} ${kind}`,
              amount,
              limit,
              windowSeconds,
              isReserved: RESERVED_KINDS.has(kind),
            },
          ];
    // An estimate above the limit must not make a request impossible that may well fit: cap it at the limit.
    const capped = Math.min(tokens, limits.tokensPerMinute ?? tokens);
    const read = tokens > 0 ? bucket("tokens", capped, limits.tokensPerMinute, MINUTE_SECONDS) : [];
    const { images: imageCount = 0 } = upperBound;
    const images = imageCount > 0 ? bucket("images", imageCount, limits.imagesPerMinute, MINUTE_SECONDS) : [];
    if (isWithinRequest) return [...read, ...images];
    const requests = [
      ...bucket("requests", 1, limits.requestsPerMinute, MINUTE_SECONDS),
      ...bucket("daily-requests", 1, limits.requestsPerDay, DAY_SECONDS),
    ];
    return [
      ...(isCounted ? [] : requests),
      ...read,
      ...(upperBound.audioBytes > 0 ? bucket("audio", upperBound.audioBytes, audio, MINUTE_SECONDS) : []),
      ...images,
      ...(operation === undefined ? [] : bucket("concurrent", 1, limits.concurrentRequests, runningSeconds)),
    ];
  }

  #settle(buckets: readonly Bucket[], reservation: TakenReservation, usage: Readonly<Usage>): void {
    const { counters, logger } = this.#options;
    const reserved = buckets.filter(({ isReserved }) => isReserved);
    if (reserved.length === 0) return;
    const corrections = reserved.map((bucket) => ({ ...bucket, difference: differenceOf(bucket, usage) }));
    counters.settle(reservation, corrections).catch((error: unknown) => {
      logger.warn({ err: error }, "a rate limit reservation could not be settled; it expires with its window");
    });
  }
}

/** Share of each limit that batches may use, so that they leave room for interactive requests. */
const BATCH_SHARE = 0.8;

function shareOf(limits: LimitedScope["limits"]): LimitedScope["limits"] {
  const shares = Object.entries(limits).map(([name, limit]) => [
    name,
    limit && Math.max(1, Math.floor(limit * BATCH_SHARE)),
  ]);
  return Object.fromEntries(shares);
}

function differenceOf({ kind, amount }: Bucket, usage: Readonly<Usage>): number {
  return kind === "tokens" ? usage.promptTokens + usage.completionTokens - amount : -amount;
}

function refusedOf(buckets: readonly Bucket[], { key }: Refused): Bucket {
  const refused = buckets.find((bucket) => bucket.key === key);
  if (refused === undefined) throw new Error(`the counters refused ${key}, which was not asked for`);
  return refused;
}

function refusal(
  claim: QuotaClaim,
  buckets: readonly Bucket[],
  refused: Bucket,
  { key, used, retryAfterSeconds }: Refused,
): Fault {
  // The end of a running request is unknown, and its timeout would be far too long to wait.
  const seconds = refused.kind === "concurrent" ? 1 : retryAfterSeconds;
  const message = `Rate limit reached for ${describe(claim, refused)}: Limit ${refused.limit}, Used ${used[key]}, Requested ${refused.amount}. Please try again in ${formatSeconds(seconds)}.`;
  const status = toRateLimitStatus(claim, buckets, used);
  return rateLimited(refused, message, { retryAfterSeconds: seconds, limits: status });
}

/** True when the request itself, not an estimate, exceeds the limit: waiting does not help. */
function neverFits({ upperBound }: QuotaClaim, { kind, amount, limit }: Bucket): boolean {
  if (limit === 0) return true;
  return (kind === "tokens" ? (upperBound().completionTokens ?? 0) : amount) > limit;
}

function tooLarge(claim: QuotaClaim, bucket: Bucket): Fault {
  const { completionTokens, promptTokens } = claim.upperBound();
  const requestedAmount = bucket.kind === "tokens" ? (completionTokens ?? promptTokens) : bucket.amount;
  const message = `Request too large for ${describe(claim, bucket)}: Limit ${bucket.limit}, Requested ${requestedAmount}.`;
  return rateLimited(bucket, message, { isFinal: true });
}

function describe({ model, caller }: QuotaClaim, { kind, scope }: Bucket): string {
  const what = model === undefined ? scope.name : `${model} in ${scope.name}`;
  return `${what} in organization ${caller.organizationId} on ${UNITS[kind]}`;
}

function rateLimited(
  { kind }: Bucket,
  message: string,
  details: Pick<FaultDetails, "retryAfterSeconds" | "limits" | "isFinal">,
): Fault {
  const faultKind = kind === "tokens" ? "token-rate-limited" : "request-rate-limited";
  return new Fault(faultKind, message, { code: "rate_limit_exceeded", ...details });
}

/** Reports the limit with the least remaining of each kind, also of those that counted the request before. */
function toRateLimitStatus(
  { counted }: QuotaClaim,
  buckets: readonly Bucket[],
  used: Readonly<Record<string, number>>,
): RateLimitStatus {
  const rateLimitStatus: RateLimitStatus = { ...counted?.rateLimitStatus };
  for (const { kind, key, limit, windowSeconds } of buckets) {
    if (kind !== "requests" && kind !== "daily-requests" && kind !== "tokens") continue;
    const name = kind === "tokens" ? "tokens" : "requests";
    const remaining = Math.max(0, limit - (used[key] ?? 0));
    const status = rateLimitStatus[name];
    if (status !== undefined && status.remaining <= remaining) continue;
    // Everything is free again once the latest request, granted now, has left the window.
    rateLimitStatus[name] = { limit, remaining, resetSeconds: remaining === limit ? 0 : windowSeconds };
  }
  return rateLimitStatus;
}

function multiply(value: number | undefined, by: number): number | undefined {
  return value === undefined ? undefined : value * by;
}

function formatSeconds(seconds: number): string {
  return seconds < 1 ? `${Math.ceil(seconds * 1000)}ms` : `${Math.ceil(seconds * 1000) / 1000}s`;
}
