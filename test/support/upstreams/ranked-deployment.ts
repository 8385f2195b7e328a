/** Deployments as the routing strategies see them, without models. */

import { LatencyEwma } from "../../../src/deployments/latency-ewma.ts";
import { DEFAULT_ROUTING_OPTIONS, type RoutingOptions } from "../../../src/deployments/routing-options.ts";
import type { Ranked } from "../../../src/inference/routing/rank.ts";

export interface RankedDeployment extends Ranked {
  name: string;
}

interface RankedDeploymentOptions extends Partial<RoutingOptions> {
  inUse?: number;
  waiting?: number;
  count?: number;
  latencySeconds?: number;
  /** Requests of other processes, as the engine reports them. */
  others?: number;
  /** Requests that wait in the engine. */
  engineWaiting?: number;
  cacheUsage?: number;
}

export function rankedDeployment(name: string, options: RankedDeploymentOptions = {}): RankedDeployment {
  const { inUse = 0, waiting = 0, count = 4, latencySeconds, others, engineWaiting, cacheUsage, ...rest } = options;
  const latency = new LatencyEwma();
  if (latencySeconds !== undefined) latency.measure(latencySeconds);
  const slots = {
    inUse,
    waiting,
    count,
    get hasFree() {
      return this.inUse < this.count;
    },
  };
  const isReported = [others, engineWaiting, cacheUsage].some((each) => each !== undefined);
  const engineLoad = isReported
    ? { running: 0, waiting: engineWaiting ?? 0, cacheUsage, others: others ?? 0 }
    : undefined;
  return { name, routingOptions: { ...DEFAULT_ROUTING_OPTIONS, ...rest }, latency, slots, engineLoad };
}
