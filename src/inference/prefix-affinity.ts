/** Routes prompts with the same prefix to the same deployment, whose prefix cache then hits. */

import { createHash } from "node:crypto";
import type { Ranked } from "./rank.ts";

interface Named extends Ranked {
  name: string;
}

/** How much busier than the others' mean a deployment may be and still be given what sticks to it. */
const MAX_LOAD = 1.25;

/**
 * Puts the deployment that `key` belongs to first, by weighted rendezvous hashing: each key keeps its deployment when
 * others come or go. Nothing changes where none reuses prefixes, or when that one has no slot free or far more to do
 * than the others.
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

/** More than 0, less than 1, and as good as random. */
function fractionOf(text: string): number {
  return (createHash("sha1").update(text).digest().readUInt32BE() + 0.5) / 2 ** 32;
}
