import type { RateLimitStatus } from "../kernel/faults.ts";
import type { Usage } from "../kernel/usage.ts";
import type { CacheOutcome } from "./cache/cache-outcome.ts";
import type { Settlement } from "./settlement.ts";

/** Answer of a run of any task. */
export interface InferenceAnswer<Event> extends ModelFacts {
  /** Random and without a prefix, which each client format adds. */
  id: string;
  /** Time of the request in epoch milliseconds. */
  createdAt: number;
  /** Catalog ID that answers, possibly a fallback's. */
  model: string;
  /** Set for a fallback's answer to a prompt that did not fit the requested model. */
  fallbackOccasion?: "context_length" | undefined;
  /** `Deployment.entry`. */
  deployment: string;
  /** `Deployment.name`. */
  deploymentName: string;
  engine: string;
  /** What the cache did; undefined for a model without one. */
  cache?: CacheOutcome | undefined;
  /** Rate limit status of the caller. */
  rateLimitStatus: RateLimitStatus;
  /** Events, which the consumer reads to the end or returns early. Throws failures mid-answer. */
  events: AsyncIterable<Event>;
  /** Usage so far; grows as `events` are read. */
  used: Readonly<Usage>;
  /** Sets the outcome before `events` is returned early while the caller is still connected. */
  settleAs(outcome: "finished" | "failed"): void;
  /** Returns the settlement; undefined while the request runs. */
  settlement(): Settlement | undefined;
}

/** What rendering an answer needs to know of the model that gave it. */
export interface ModelFacts {
  /** Whether the model is another service's. */
  isUpstream: boolean;
  /** Whether the events are bytes in the caller's format. */
  isForwarded: boolean;
  /** Samples per second of speech; 0 for other tasks. */
  sampleRate: number;
}
