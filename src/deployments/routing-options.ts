/** Operator's options for routing requests between a model's deployments. */

import { NO_PRICE, type Price } from "../contracts/price.ts";
import { type CircuitSettings, DEFAULT_CIRCUIT } from "./circuit.ts";
import type { LoadPolicy } from "./loading/model-loader-options.ts";

export type Strategy =
  | "ordered"
  | "weighted"
  | "least_busy"
  | "power_of_two_choices"
  | "lowest_latency"
  | "lowest_cost";

/**
 * Requests that a fallback answers, beside those of a model without an available deployment (`always`), or instead of
 * them: those whose prompt does not fit the model's context window.
 */
export type FallbackOccasion = "context_length" | "always";

export interface RoutingPolicy {
  strategy: Strategy;
  /** Attempts after the first; each deployment is tried once even if there are more. */
  retries: number;
  /** Maximum active requests of a deployment, relative to the mean, up to which prefix affinity applies. */
  prefixLoadFactor: number;
}

export const DEFAULT_POLICY: RoutingPolicy = { strategy: "ordered", retries: 2, prefixLoadFactor: 1.25 };

/** Options that can change without reopening the deployment's model. */
export interface RoutingOptions extends LoadPolicy {
  /** Weight for the strategy `weighted` and for prefix affinity. */
  weight: number;
  /** Price of the deployment, for its rank, and for the cost of its requests where the model has none. */
  price: Price;
  /** Prices by requested ID, for a wildcard whose deployment has no price. */
  wildcardPrices?: Readonly<Record<string, Price>> | undefined;
  /** Discount or surcharge, a decimal; undefined: none. */
  priceFactor?: string | undefined;
  /** Whether it reuses the evaluated prefix of an earlier prompt. */
  prefixCaching: boolean;
  /** Requests that may wait for a slot. */
  maxQueue: number;
  circuit: CircuitSettings;
}

export const DEFAULT_ROUTING_OPTIONS: RoutingOptions = {
  weight: 1,
  price: NO_PRICE,
  prefixCaching: false,
  maxQueue: 100,
  circuit: DEFAULT_CIRCUIT,
  load: "start",
  unloadAfterSeconds: undefined,
};
