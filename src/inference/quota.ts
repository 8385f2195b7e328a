/** Contract of quota: reserved before a request runs, settled after it. */

import type { Caller } from "../contracts/caller.ts";
import type { Charge } from "../contracts/price.ts";
import type { RateLimitStatus } from "../kernel/faults.ts";
import type { Operation, Usage } from "../kernel/usage.ts";

/** Upper bound of what a request can use. */
export interface QuotaClaim {
  caller: Caller;
  /** The requested catalog ID, aliases resolved; undefined for requests without a model. */
  model: string | undefined;
  /** The catalog entry: the same ID, or the wildcard that matches it. */
  catalogId: string | undefined;
  /** Computed only when a limit applies, since it reads the complete prompt. */
  upperBound(): UsageUpperBound;
  /** Undefined: nothing runs, and the request alone is counted. */
  operation: Operation | undefined;
  /** Returns the charges of all deployments that may answer; none: it is free. Called only when a spend limit applies. */
  charges(): readonly Charge[];
  /** Number of choices; default 1. */
  choices?: number;
  /** Part of a request that is already counted: takes tokens and money, but does not count as a request. */
  isWithinRequest?: boolean;
  /** How the request was counted before this claim of what it uses; undefined: this counts it. */
  counted?: Counted | undefined;
  /** Request of a batch, which leaves a part of each limit to others. */
  isBatch?: boolean;
  /** Epoch milliseconds. The request counts for this month, also when it ends in the next one. */
  startedAt: number;
}

export interface UsageUpperBound {
  /** Upper bound for the prompt. */
  promptTokens: number;
  /** Undefined when the request sets no maximum. */
  completionTokens: number | undefined;
  /** Size of an upload. */
  audioBytes: number;
  /** Seconds of audio; left out: as many as an upload of this size has. */
  audioSeconds?: number;
  /** Characters of speech input. */
  characters: number;
  /** Images to generate; left out: none. */
  images?: number;
}

/** The model that a request has counted for, which may not be the one that runs, and its limits since then. */
export interface Counted extends Pick<QuotaClaim, "model" | "catalogId"> {
  rateLimitStatus: RateLimitStatus;
}

/** A request that counts already, because of what it has read before its run. */
export class CountedRequest {
  #counted: Counted | undefined;

  constructor(counted: Counted) {
    this.#counted = counted;
  }

  /** Returns how it counted to its first run, which counts it only for other limits; undefined: a further run counts. */
  adopt(): Counted | undefined {
    const counted = this.#counted;
    this.#counted = undefined;
    return counted;
  }
}

/** What of a request a run is. */
export interface RequestPart {
  /** As part of a request that is already counted, such as a later turn of its tool loop. */
  isWithinRequest?: boolean | undefined;
  /** The request itself, where it counts before its run. */
  counted?: CountedRequest | undefined;
}

export interface Reservation {
  /** Rate limit status of the caller, this request included. */
  rateLimitStatus: RateLimitStatus;
  /** Must be called exactly once; releases what was not used. The cost is null when no price was known. */
  settle(usage: Readonly<Usage>, costNanoDollars: number | null): void;
}

/** Reservation of a request without limits. */
export const UNLIMITED: Reservation = { rateLimitStatus: {}, settle: () => {} };

export interface Quota {
  /** Throws a Fault when the claim does not fit. */
  reserve(claim: QuotaClaim): Reservation | Promise<Reservation>;
  /** Counts what the caller has spent by records that no request has caused, also beyond the limits. */
  countRecorded?(caller: Caller, at: number): Promise<void>;
}
