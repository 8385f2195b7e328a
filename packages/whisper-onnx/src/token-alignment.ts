/** Aligns tokens to audio by dynamic time warping over the alignment heads' attention, as OpenAI's implementation does. */

import { AUDIO_POSITIONS } from "./whisper-graphs.ts";
import { type Alignment, alignmentScores } from "./whisper-network.ts";

const SECONDS_PER_POSITION = 0.02;
const MEDIAN_WIDTH = 7;

/**
 * Start of each text token in seconds, and the end of the last one. `from` is the index of the token before the text; the
 * last token of the alignment, the end of text, is left out.
 */
export function tokenTimestamps(alignment: Alignment, from: number, windowSeconds: number): number[] {
  const frames = Math.max(1, Math.min(AUDIO_POSITIONS, Math.round(windowSeconds / SECONDS_PER_POSITION)));
  const rows = alignment.tokens - 1 - from;
  return timeWarp(meanAttention(alignment, from, rows, frames), rows, frames).map(
    (frame) => frame * SECONDS_PER_POSITION,
  );
}

/** Mean attention [rows, frames] over the heads. */
function meanAttention(alignment: Alignment, from: number, rows: number, frames: number): Float32Array {
  const mean = new Float32Array(rows * frames);
  for (let head = 0; head < alignment.heads; head += 1) {
    // The weights of every token, because each position is standardized over all tokens.
    const weights = Array.from({ length: alignment.tokens }, (_, token) =>
      softmax(alignmentScores(alignment, head, token).subarray(0, frames)),
    );
    standardize(weights, frames);
    for (let row = 0; row < rows; row += 1) {
      const smooth = medianFilter(weights[from + row] ?? new Float32Array(frames));
      for (let frame = 0; frame < frames; frame += 1) {
        mean[row * frames + frame] = (mean[row * frames + frame] ?? 0) + (smooth[frame] ?? 0) / alignment.heads;
      }
    }
  }
  return mean;
}

function softmax(scores: Float32Array): Float32Array {
  const max = scores.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  const weights = scores.map((score) => Math.exp(score - max));
  const sum = weights.reduce((a, b) => a + b, 0);
  return weights.map((weight) => weight / sum);
}

/** Scales each position's weights, in place, to mean 0 and deviation 1 over the tokens. */
function standardize(weights: readonly Float32Array[], frames: number): void {
  for (let frame = 0; frame < frames; frame += 1) {
    const values = weights.map((row) => row[frame] ?? 0);
    const mean = values.reduce((a, b) => a + b, 0) / values.length;
    const deviation = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length);
    for (const row of weights) row[frame] = ((row[frame] ?? 0) - mean) / (deviation || 1);
  }
}

/** Median filter with reflection at the ends. */
function medianFilter(row: Float32Array): Float32Array {
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

/** The position at which the path of most attention reaches each row. */
function timeWarp(attention: Float32Array, rows: number, frames: number): number[] {
  const width = frames + 1;
  const cost = new Float64Array((rows + 1) * width).fill(Number.POSITIVE_INFINITY);
  const from = new Uint8Array((rows + 1) * width);
  cost[0] = 0;
  for (let row = 1; row <= rows; row += 1) {
    for (let frame = 1; frame <= frames; frame += 1) {
      const at = row * width + frame;
      const both = cost[at - width - 1] as number;
      const down = cost[at - width] as number;
      const along = cost[at - 1] as number;
      from[at] = both < down && both < along ? BOTH : down < both && down < along ? DOWN : ALONG;
      cost[at] = Math.min(both, down, along) - (attention[(row - 1) * frames + frame - 1] as number);
    }
  }
  return pathStarts(from, rows, frames);
}

/** Follows the moves back from the end. */
function pathStarts(from: Uint8Array, rows: number, frames: number): number[] {
  const starts = new Array<number>(rows).fill(0);
  for (let row = rows, frame = frames; row > 0 && frame > 0; ) {
    starts[row - 1] = frame - 1;
    const move = from[row * (frames + 1) + frame];
    if (move !== ALONG) row -= 1;
    if (move !== DOWN) frame -= 1;
  }
  return starts;
}

const BOTH = 0;
const DOWN = 1;
const ALONG = 2;
