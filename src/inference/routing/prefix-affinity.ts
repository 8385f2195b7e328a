/**
 * Routes prompts with the same beginning to the same deployment, whose prefix cache then hits: rendezvous hashing
 * (Thaler and Ravishankar, 1998) with bounded loads (Mirrokni, Thorup and Zadimoghaddam, 2016). Replicas of Parlance
 * choose alike without communication, and few prompts move when a deployment comes or goes.
 */

import { hash } from "node:crypto";
import { activeRequests, hasCapacity } from "./deployment-load.ts";
import type { Ranked } from "./rank.ts";

interface Named extends Ranked {
  name: string;
}

/** Hash of 64 bits, in halves. */
export type PrefixHash = readonly [high: number, low: number];

export interface PrefixKeys<Key = string> {
  /** Equal for all turns of a conversation. */
  conversation: Key;
  /** Long beginning that conversations have in common, such as a system prompt; undefined without one. */
  shared: Key | undefined;
}

export interface PrefixChoice<D> {
  /** Undefined: every deployment is at its bound or without capacity. */
  chosen: D | undefined;
  /** Whether the preferred deployment was at its bound, so that another one was chosen. */
  isOverflow: boolean;
}

/**
 * Chooses the deployment of a prompt among those with `prefix_caching`. The first `groupSize` deployments in the order
 * of the shared beginning are preferred, and of these the one of the conversation; then twice as many, and so on. A
 * deployment is at its bound when it has `loadFactor` times its share, by weight, of all active requests and one more
 * for each deployment, which keeps affinity when there are few.
 */
export function choosePrefixHome<D extends Named>(
  deployments: readonly D[],
  { conversation, shared }: PrefixKeys<PrefixHash>,
  groupSize: number,
  loadFactor: number,
): PrefixChoice<D> {
  let total = 0;
  let weights = 0;
  for (const deployment of deployments) {
    total += activeRequests(deployment);
    weights += deployment.routingOptions.weight;
  }
  const boundPerWeight = (loadFactor * (total + deployments.length)) / weights;
  const mayTake = (each: D) =>
    hasCapacity(each) && activeRequests(each) < Math.ceil(boundPerWeight * each.routingOptions.weight);
  const ordered =
    shared === undefined || groupSize >= deployments.length ? deployments : sortByScore(deployments, shared);
  let preferred: D | undefined;
  for (let start = 0, size = groupSize; start < ordered.length; start += size, size = start) {
    const group = ordered === deployments ? deployments : ordered.slice(start, start + size);
    preferred ??= highest(group, conversation, () => true);
    const chosen = highest(group, conversation, mayTake);
    if (chosen !== undefined) return { chosen, isOverflow: chosen !== preferred };
    if (group === deployments) break;
  }
  return { chosen: undefined, isOverflow: false };
}

function highest<D extends Named>(
  deployments: readonly D[],
  key: PrefixHash,
  isAdmitted: (each: D) => boolean,
): D | undefined {
  let best: D | undefined;
  let bestScore = Number.NEGATIVE_INFINITY;
  for (const deployment of deployments) {
    const score = scoreOf(deployment, key);
    if (score <= bestScore || !isAdmitted(deployment)) continue;
    bestScore = score;
    best = deployment;
  }
  return best;
}

function sortByScore<D extends Named>(deployments: readonly D[], key: PrefixHash): D[] {
  return deployments
    .map((deployment) => ({ deployment, score: scoreOf(deployment, key) }))
    .sort((a, b) => b.score - a.score)
    .map(({ deployment }) => deployment);
}

/** Score of weighted rendezvous hashing: the highest wins, with a probability in proportion to the weight. */
function scoreOf(deployment: Named, [high, low]: PrefixHash): number {
  let name = nameHashes.get(deployment);
  if (name === undefined) {
    name = hashPrefix(deployment.name);
    nameHashes.set(deployment, name);
  }
  const mixed = mix(mix(name[0] ^ high) + (name[1] ^ low));
  return -deployment.routingOptions.weight / Math.log((mixed + 0.5) / 2 ** 32);
}

/** The names of deployments do not change; hashing 64 of them takes 50 µs. */
const nameHashes = new WeakMap<Named, PrefixHash>();

export function hashPrefix(text: string): PrefixHash {
  const digest = hash("sha1", text, "buffer");
  return [digest.readInt32LE(0), digest.readInt32LE(4)];
}

/** MurmurHash3's finalizer, in which each bit of the input changes about half of the output's. */
function mix(value: number): number {
  let mixed = value ^ (value >>> 16);
  mixed = Math.imul(mixed, 0x85ebca6b);
  mixed ^= mixed >>> 13;
  mixed = Math.imul(mixed, 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
