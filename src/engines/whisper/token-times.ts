/**
 * When each token is said: dynamic time warping over what the alignment heads attend to, as OpenAI's own code does it.
 */

import { AUDIO_STEPS } from "./whisper-graphs.ts";
import { type Alignment, alignmentOf } from "./whisper-network.ts";

const SECONDS_PER_STEP = 0.02;
const MEDIAN_WIDTH = 7;

/**
 * `from` is the first token of the alignment that counts, the one before the text; the last one (the end) does not.
 * Gives one time more than there are tokens of text: when each begins, and when the last one ends.
 */
export function tokenTimes(alignment: Alignment, from: number, windowSeconds: number): number[] {
  const steps = Math.max(1, Math.min(AUDIO_STEPS, Math.round(windowSeconds / SECONDS_PER_STEP)));
  const rows = alignment.tokens - 1 - from;
  return warp(meanAttention(alignment, from, rows, steps), rows, steps).map((step) => step * SECONDS_PER_STEP);
}

/** [rows, steps], the larger the more. */
function meanAttention(alignment: Alignment, from: number, rows: number, steps: number): Float32Array {
  const mean = new Float32Array(rows * steps);
  for (let head = 0; head < alignment.heads; head += 1) {
    // Every token's weights, for each step is measured by how all of them attend to it.
    const weights = Array.from({ length: alignment.tokens }, (_, token) =>
      softmax(alignmentOf(alignment, head, token).subarray(0, steps)),
    );
    standardise(weights, steps);
    for (let row = 0; row < rows; row += 1) {
      const smooth = medians(weights[from + row] ?? new Float32Array(steps));
      for (let step = 0; step < steps; step += 1) {
        mean[row * steps + step] = (mean[row * steps + step] ?? 0) + (smooth[step] ?? 0) / alignment.heads;
      }
    }
  }
  return mean;
}

function softmax(scores: Float32Array): Float32Array {
  const greatest = scores.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  const weights = scores.map((score) => Math.exp(score - greatest));
  const sum = weights.reduce((a, b) => a + b, 0);
  return weights.map((weight) => weight / sum);
}

/** In place: each step's weights to mean 0 and deviation 1 over the tokens. */
function standardise(weights: readonly Float32Array[], steps: number): void {
  for (let step = 0; step < steps; step += 1) {
    const values = weights.map((row) => row[step] ?? 0);
    const mean = values.reduce((a, b) => a + b, 0) / values.length;
    const deviation = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length);
    for (const row of weights) row[step] = ((row[step] ?? 0) - mean) / (deviation || 1);
  }
}

/** Each value's median with its neighbours; beyond the ends the row is mirrored. */
function medians(row: Float32Array): Float32Array {
  const half = (MEDIAN_WIDTH - 1) / 2;
  if (row.length <= half) return row;
  const last = row.length - 1;
  const mirrored = (index: number) => (index < 0 ? -index : index > last ? 2 * last - index : index);
  const window = new Float32Array(MEDIAN_WIDTH);
  return row.map((_, index) => {
    for (let offset = 0; offset < MEDIAN_WIDTH; offset += 1) {
      window[offset] = row[mirrored(index + offset - half)] ?? 0;
    }
    return window.sort()[half] ?? 0;
  });
}

/** The step at which the path of most attention comes to each row. */
function warp(attention: Float32Array, rows: number, steps: number): number[] {
  const width = steps + 1;
  const cost = new Float64Array((rows + 1) * width).fill(Number.POSITIVE_INFINITY);
  const from = new Uint8Array((rows + 1) * width);
  cost[0] = 0;
  for (let row = 1; row <= rows; row += 1) {
    for (let step = 1; step <= steps; step += 1) {
      const at = row * width + step;
      const both = cost[at - width - 1] ?? 0;
      const down = cost[at - width] ?? 0;
      const along = cost[at - 1] ?? 0;
      const best = both < down && both < along ? BOTH : down < both && down < along ? DOWN : ALONG;
      from[at] = best;
      cost[at] = (best === BOTH ? both : best === DOWN ? down : along) - (attention[(row - 1) * steps + step - 1] ?? 0);
    }
  }
  const starts = new Array<number>(rows).fill(0);
  for (let row = rows, step = steps; row > 0 && step > 0; ) {
    starts[row - 1] = step - 1;
    const move = from[row * width + step];
    if (move !== ALONG) row -= 1;
    if (move !== DOWN) step -= 1;
  }
  return starts;
}

const BOTH = 0;
const DOWN = 1;
const ALONG = 2;
