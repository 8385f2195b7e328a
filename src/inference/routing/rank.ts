/** Puts a model's deployments into the order in which they are tried. */

import type { PriceUnit } from "../../contracts/price.ts";
import type { LatencyEwma } from "../../deployments/latency-ewma.ts";
import type { RoutingOptions, Strategy } from "../../deployments/routing-options.ts";
import { activeRequests, hasCapacity, type Loaded } from "./deployment-load.ts";

export interface Ranked extends Loaded {
  routingOptions: RoutingOptions;
  latency: LatencyEwma;
  /** Entry in the configuration of which this is one endpoint; undefined: an entry by itself. */
  pool?: string | undefined;
}

/** Strategies that distribute requests; the others prefer one deployment for every prompt. */
const SPREADING: ReadonlySet<Strategy> = new Set(["weighted", "least_busy", "power_of_two_choices", "lowest_latency"]);

/** Score by which deployments are sorted in ascending order; the sort is stable. */
type Score<D extends Ranked> = (deployment: D) => number;

/**
 * Sorts deployments by strategy. Each group is tried before the next; within a group any deployment may be preferred.
 * The endpoints of one pool are a group. `random` returns a number from 0 to 1.
 */
export function rank<D extends Ranked>(deployments: readonly D[], strategy: Strategy, random = Math.random): D[][] {
  if (SPREADING.has(strategy)) return [backupsLast(spread(deployments, strategy, random))];
  const sorted = strategy === "lowest_cost" ? sortBy(deployments, costOf) : deployments;
  return groupByPool(sorted).map((group) => (group.length === 1 ? group : backupsLast(leastBusy(group, random))));
}

/** Puts endpoints that stand in for the others of their pool, such as SRV records of a lower priority, after them. */
function backupsLast<D extends Ranked>(deployments: D[]): D[] {
  const isBackup = ({ pool, routingOptions }: D) => pool !== undefined && routingOptions.weight === 0;
  if (!deployments.some(isBackup)) return deployments;
  return [...deployments.filter((each) => !isBackup(each)), ...deployments.filter(isBackup)];
}

function spread<D extends Ranked>(deployments: readonly D[], strategy: Strategy, random: () => number): D[] {
  switch (strategy) {
    case "weighted":
      // Efraimidis and Spirakis: exponential ages, the shortest first, draw without replacement by weight.
      return freeFirst(sortBy(deployments, ({ routingOptions }) => -Math.log(1 - random()) / routingOptions.weight));
    case "lowest_latency":
      return freeFirst(sortBy(deployments, ({ latency }) => latency.seconds ?? 0));
    case "power_of_two_choices":
      return bestOfTwo(freeFirst(shuffle(deployments, random)));
    default:
      return leastBusy(deployments, random);
  }
}

function leastBusy<D extends Ranked>(deployments: readonly D[], random: () => number): D[] {
  return freeFirst(sortBy(shuffle(deployments, random), requestsPerSlot(deployments)));
}

/** Swaps the first two of a random order unless the first is the less busy one. */
function bestOfTwo<D extends Ranked>([first, second, ...others]: D[]): D[] {
  if (first === undefined || second === undefined) return first === undefined ? [] : [first];
  const score = requestsPerSlot([first, second]);
  const isFirst = hasCapacity(first) !== hasCapacity(second) ? hasCapacity(first) : score(first) <= score(second);
  return isFirst ? [first, second, ...others] : [second, first, ...others];
}

/** Scores by active requests per slot. A deployment without a limit counts as having the largest one. */
function requestsPerSlot<D extends Ranked>(deployments: readonly D[]): Score<D> {
  let unbounded = 1;
  for (const { slots } of deployments) {
    if (Number.isFinite(slots.count)) unbounded = Math.max(unbounded, slots.count);
  }
  return (deployment) => activeRequests(deployment) / Math.min(deployment.slots.count, unbounded);
}

function groupByPool<D extends Ranked>(deployments: readonly D[]): D[][] {
  const groups: D[][] = [];
  let pool: string | undefined;
  for (const deployment of deployments) {
    const last = groups.at(-1);
    if (deployment.pool !== undefined && deployment.pool === pool && last !== undefined) last.push(deployment);
    else groups.push([deployment]);
    pool = deployment.pool;
  }
  return groups;
}

/** Weight of the prompt's price: a prompt is usually about three times as long as its answer. */
const PROMPT_SHARE = 3;

/** Returns a cost that is comparable between deployments of one model, which have the same units. */
function costOf({ routingOptions: { price, priceFactor } }: Ranked): number {
  const of = (unit: PriceUnit) => Number(price[unit] ?? 0);
  const sum = PROMPT_SHARE * of("prompt") + of("completion") + of("character") + of("second") + of("request");
  return sum * Number(price.exchange_rate ?? 1) * Number(priceFactor ?? 1);
}

/** Fisher and Yates. */
function shuffle<D extends Ranked>(deployments: readonly D[], random: () => number): D[] {
  const shuffled = [...deployments];
  for (let last = shuffled.length - 1; last > 0; last -= 1) {
    const chosen = Math.floor(random() * (last + 1));
    const deployment = shuffled[last] as D;
    shuffled[last] = shuffled[chosen] as D;
    shuffled[chosen] = deployment;
  }
  return shuffled;
}

function sortBy<D extends Ranked>(deployments: readonly D[], score: Score<D>): D[] {
  return deployments
    .map((deployment) => ({ deployment, score: score(deployment) }))
    .sort((a, b) => (a.score === b.score ? 0 : a.score - b.score))
    .map(({ deployment }) => deployment);
}

function freeFirst<D extends Ranked>(deployments: D[]): D[] {
  if (deployments.every(hasCapacity)) return deployments;
  return [...deployments.filter(hasCapacity), ...deployments.filter((each) => !hasCapacity(each))];
}
