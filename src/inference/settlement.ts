import type { CostPart } from "../catalog/prices/cost.ts";
import type { Caller } from "../contracts/caller.ts";
import type { Task } from "../contracts/task.ts";
import type { Usage } from "../kernel/usage.ts";
import type { CacheOutcome } from "./cache/cache-outcome.ts";
import type { Stage } from "./stages.ts";

/** Result of one request, reported once, however it ended. */
export interface Settlement {
  caller: Caller;
  operation: Task;
  /** Requested catalog ID; it exists and the caller may use it. */
  requestedModel: string;
  /** Catalog entry: the same ID, or the wildcard that matches it. */
  catalogId: string;
  /** Catalog ID and deployment that answered; undefined without an answer. */
  model: string | undefined;
  /** Cost at the answering model's price at the time of the request; null without a price. */
  costNanoDollars: number | null;
  /** Parts of the cost where more than common prices per token makes it; undefined otherwise. */
  costParts: readonly CostPart[] | undefined;
  /** Cost that the provider's own statement is compared with; null without a price or a statement. */
  comparedCostNanoDollars: number | null;
  deployment: string | undefined;
  /** Engine of the deployment. */
  engine: string | undefined;
  /** `Deployment.entry`. */
  deploymentEntry: string | undefined;
  /** Number of attempts, including repeated ones at the same deployment. */
  attempts: number;
  /** Seconds spent waiting for a slot in all attempts. */
  queuedSeconds: number;
  /** In order; none for a request that the first attempt at a loaded model answered. */
  stages: readonly Stage[];
  /** What the cache did; undefined for a model without one. */
  cache?: CacheOutcome["status"] | undefined;
  outcome: "finished" | "client-left" | "failed";
  used: Usage;
  /** Epoch milliseconds. */
  startedAt: number;
  durationSeconds: number;
  /** Seconds to the first part of the answer. */
  firstTokenSeconds: number | undefined;
}
