/** Routes prompts with the same prefix to the same deployment, whose prefix cache then hits. */

import { createHash } from "node:crypto";
import type { Ranked } from "./rank.ts";

interface Named extends Ranked {
  name: string;
}

/** Maximum load of a deployment, relative to the mean of the others, up to which affinity applies. */
const MAX_LOAD = 1.25;

/**
 * Puts the deployment of `key` first, by weighted rendezvous hashing: each key keeps its deployment when others are
 * added or removed. Keeps the order without prefix caching, or when that deployment is full or much busier than the
 * others.
 */
export function orderByPrefixAffinity<D extends Named>(ranked: D[], key: string | undefined): D[] {
  if (key === undefined) return ranked;
  let home: D | undefined;
  let best = Number.NEGATIVE_INFINITY;
  for (const deployment of ranked) {
    if (!deployment.routingOptions.prefixCaching || deployment.routingOptions.weight === 0) continue;
    const score = -deployment.routingOptions.weight / Math.log(fractionOf(`${deployment.name}\n${key}`));
    if (score > best) {
      best = score;
      home = deployment;
    }
  }
  if (home === undefined || !home.slots.hasFree || isOverloaded(home, ranked)) return ranked;
  return [home, ...ranked.filter((each) => each !== home)];
}

function isOverloaded(home: Named, all: readonly Named[]): boolean {
  const alike = all.filter(({ routingOptions }) => routingOptions.prefixCaching);
  const mean = alike.reduce((sum, { slots }) => sum + slots.inUse, 0) / alike.length;
  return home.slots.inUse + 1 > Math.ceil(MAX_LOAD * (mean + 1));
}

/** Hashes text to a fraction between 0 and 1, exclusive. */
function fractionOf(text: string): number {
  return (createHash("sha1").update(text).digest().readUInt32BE() + 0.5) / 2 ** 32;
}
