/**
 * Latency and recall of searches in a million synthetic vectors of 384 dimensions, compared with all exact cosines.
 * `node bench/vector-stores/million-vectors.ts [COUNT] [NOISE]`; noise is the length of what is added to the center of a
 * vector's cluster, 0: vectors without clusters.
 */

import { quantize, VectorBlocks } from "../../src/features/vector-stores/index/vector-blocks.ts";
import { seededRandom } from "../../test/support/seeded-random.ts";

const [count = 1_000_000, noise = 1] = process.argv.slice(2).map(Number);
const DIMENSIONS = 384;
const CLUSTERS = 10_000;
const QUERIES = 100;
const WARM_UP = 5;
const K = 10;

const random = seededRandom(42);

/** Of length 1, in a random direction. */
function direction(): Float32Array {
  const vector = new Float32Array(DIMENSIONS);
  for (let index = 0; index < DIMENSIONS; index += 1) {
    // The sum of four uniform numbers is close enough to a normal one.
    vector[index] = random() + random() + random() + random() - 2;
  }
  return normalize(vector);
}

function normalize(vector: Float32Array): Float32Array {
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}

function near(center: Float32Array, distance: number): Float32Array {
  const offset = direction();
  return normalize(center.map((value, index) => value + distance * (offset[index] ?? 0)));
}

const centers = Array.from({ length: CLUSTERS }, direction);
const next = () => (noise === 0 ? direction() : near(centers[Math.floor(random() * CLUSTERS)] as Float32Array, noise));
const queries = Array.from({ length: QUERIES + WARM_UP }, next);
const exact = queries.map(() => ({ scores: new Float64Array(K).fill(-1), entries: new Int32Array(K) }));
const blocks = new VectorBlocks(DIMENSIONS);
for (let entry = 0; entry < count; entry += 1) {
  const vector = next();
  const { integers, scale } = quantize(vector);
  blocks.add(integers, scale);
  for (const [index, query] of queries.entries()) {
    let cosine = 0;
    for (let at = 0; at < DIMENSIONS; at += 1) cosine += (vector[at] ?? 0) * (query[at] ?? 0);
    insert(exact[index] as (typeof exact)[number], entry, cosine);
  }
}

function insert({ scores, entries }: (typeof exact)[number], entry: number, score: number): void {
  if (score <= (scores[K - 1] ?? 0)) return;
  let at = K - 1;
  for (; at > 0 && (scores[at - 1] ?? 0) < score; at -= 1) {
    scores[at] = scores[at - 1] ?? 0;
    entries[at] = entries[at - 1] ?? 0;
  }
  scores[at] = score;
  entries[at] = entry;
}

for (const isExact of [false, true]) {
  const times: number[] = [];
  let hits = 0;
  for (const [index, query] of queries.entries()) {
    const startedAt = performance.now();
    const scale = blocks.setQuery(query);
    const matches = blocks.search(query, scale, K, () => true, isExact);
    if (index < WARM_UP) continue;
    times.push(performance.now() - startedAt);
    const nearest = new Set(exact[index]?.entries);
    hits += matches.filter(({ entry }) => nearest.has(entry)).length;
  }
  times.sort((a, b) => a - b);
  const at = (share: number) => (times[Math.floor(times.length * share)] ?? 0).toFixed(1);
  const recall = (hits / (QUERIES * K)).toFixed(3);
  console.log(
    `${count} vectors, noise ${noise}, ${isExact ? "8-bit integers" : "bits, then integers"}: p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, recall@10 ${recall}, ${(blocks.memoryBytes / 2 ** 20).toFixed(0)} MiB`,
  );
}
