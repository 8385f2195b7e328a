/** Puts a model's deployments into the order in which they are tried. */

import type { LatencyEwma } from "./latency-ewma.ts";
import type { RoutingOptions, Strategy } from "./routing-options.ts";

export interface Ranked {
  routingOptions: RoutingOptions;
  latency: LatencyEwma;
  slots: { inUse: number; waiting: number; count: number; hasFree: boolean };
}

/** Strategies that distribute requests; the others prefer one deployment for every prompt. */
export const SPREADING: ReadonlySet<Strategy> = new Set(["weighted", "least_busy", "lowest_latency"]);

/** Score by which deployments are sorted in ascending order; the sort is stable. */
type Score<D extends Ranked> = (deployment: D) => number;

/** Sorts deployments by strategy. `random` returns a number from 0 to 1. */
export function rank<D extends Ranked>(deployments: readonly D[], strategy: Strategy, random = Math.random): D[] {
  switch (strategy) {
    case "ordered":
      return [...deployments];
    case "lowest_cost":
      return sorted(deployments, costOf);
    case "weighted":
      // Efraimidis and Spirakis: exponential ages, the shortest first, draw without replacement by weight.
      return freeFirst(sorted(deployments, ({ routingOptions }) => -Math.log(1 - random()) / routingOptions.weight));
    case "lowest_latency":
      return freeFirst(sorted(deployments, ({ latency }) => latency.seconds ?? 0));
    case "least_busy": {
      const bounded = deployments.map(({ slots }) => slots.count).filter(Number.isFinite);
      const unbounded = Math.max(1, ...bounded);
      const shuffled = sorted(deployments, random);
      return freeFirst(
        sorted(shuffled, ({ slots }) => (slots.inUse + slots.waiting) / Math.min(slots.count, unbounded)),
      );
    }
  }
}

/** Weight of the prompt's price: a prompt is usually about three times as long as its answer. */
const PROMPT_SHARE = 3;

/** Returns a cost that is comparable between deployments of one model, which have the same units. */
function costOf({ routingOptions: { price } }: Ranked): number {
  const of = (unit: string) => Number(price[unit] ?? 0);
  return PROMPT_SHARE * of("prompt") + of("completion") + of("character") + of("second");
}

function sorted<D extends Ranked>(deployments: readonly D[], score: Score<D>): D[] {
  return deployments
    .map((deployment) => ({ deployment, score: score(deployment) }))
    .sort((a, b) => (a.score === b.score ? 0 : a.score - b.score))
    .map(({ deployment }) => deployment);
}

function freeFirst<D extends Ranked>(deployments: D[]): D[] {
  if (deployments.every(({ slots }) => slots.hasFree)) return deployments;
  return [...deployments.filter(({ slots }) => slots.hasFree), ...deployments.filter(({ slots }) => !slots.hasFree)];
}
