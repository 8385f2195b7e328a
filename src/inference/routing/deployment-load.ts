/** How busy a deployment is: its requests here, and those of others as far as its engine reports them. */

import type { PolledLoad } from "../../deployments/load-poller.ts";

export interface Loaded {
  slots: { inUse: number; waiting: number; count: number; hasFree: boolean };
  /** Undefined: not reported, or stale. */
  engineLoad?: PolledLoad | undefined;
}

/** Waiting requests from which an engine is saturated: the default of Kubernetes' Gateway API Inference Extension. */
const SATURATED_QUEUE = 5;
/** Cache usage from which an engine is saturated. From here on vLLM preempts requests, which then start over. */
const SATURATED_CACHE = 0.95;

/** Running and waiting requests: those of this process at the moment, and those of others at the last poll. */
export function activeRequests({ slots, engineLoad }: Loaded): number {
  return slots.inUse + slots.waiting + (engineLoad?.others ?? 0);
}

/** Whether a request can begin at once. */
export function hasCapacity({ slots, engineLoad }: Loaded): boolean {
  if (!slots.hasFree) return false;
  if (engineLoad === undefined) return true;
  const { others, waiting, cacheUsage = 0 } = engineLoad;
  return slots.inUse + others < slots.count && waiting < SATURATED_QUEUE && cacheUsage < SATURATED_CACHE;
}
