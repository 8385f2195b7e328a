/** Agglomerative clustering of voices by the mean cosine similarity between clusters. */

/** Returns the cluster of each vector, numbered in the order of their first vectors. Vectors have length 1. */
export function clusterVoices(voices: readonly Float32Array[], minSimilarity: number): number[] {
  const clusters = voices.map((_, index) => [index]);
  const similarities = voices.map((a) => voices.map((b) => dot(a, b)));
  for (;;) {
    const closest = closestPair(similarities, clusters);
    if (closest === undefined || closest.similarity < minSimilarity) break;
    merge(similarities, clusters, closest.first, closest.second);
  }
  const labels = new Array<number>(voices.length).fill(0);
  const inOrder = clusters.filter((members) => members.length > 0);
  inOrder.sort((a, b) => Math.min(...a) - Math.min(...b));
  for (const [label, members] of inOrder.entries()) for (const member of members) labels[member] = label;
  return labels;
}

/** Mean of the vectors, scaled to length 1. */
export function meanVoice(voices: readonly Float32Array[], weights: readonly number[] = []): Float32Array {
  const sum = new Float32Array(voices[0]?.length ?? 0);
  for (const [index, voice] of voices.entries()) {
    const weight = weights[index] ?? 1;
    for (const [dimension, value] of voice.entries()) sum[dimension] = (sum[dimension] ?? 0) + weight * value;
  }
  const length = Math.hypot(...sum) || 1;
  return sum.map((value) => value / length);
}

/** Cosine similarity of vectors of length 1. */
export function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (const [index, value] of a.entries()) sum += value * (b[index] ?? 0);
  return sum;
}

function closestPair(similarities: readonly number[][], clusters: readonly number[][]) {
  let closest: { first: number; second: number; similarity: number } | undefined;
  for (const [first, row] of similarities.entries()) {
    if (clusters[first]?.length === 0) continue;
    for (let second = first + 1; second < row.length; second += 1) {
      const similarity = row[second] ?? 0;
      if (clusters[second]?.length === 0 || similarity <= (closest?.similarity ?? Number.NEGATIVE_INFINITY)) continue;
      closest = { first, second, similarity };
    }
  }
  return closest;
}

/** Moves the members of the second cluster into the first, in place. */
function merge(similarities: readonly number[][], clusters: number[][], first: number, second: number): void {
  const [a = [], b = []] = [clusters[first], clusters[second]];
  for (const [other, row] of similarities.entries()) {
    const mean = ((row[first] ?? 0) * a.length + (row[second] ?? 0) * b.length) / (a.length + b.length);
    row[first] = mean;
    (similarities[first] ?? [])[other] = mean;
  }
  clusters[first] = [...a, ...b];
  clusters[second] = [];
}
