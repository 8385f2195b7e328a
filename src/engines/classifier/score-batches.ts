/** Sorts windows into batches of similar length and runs the network on them. */

import { type InferenceSession, Tensor } from "onnxruntime-node";

/** Larger batches are no faster on a CPU, and an abort takes effect only between batches. */
const BATCH_TOKENS = 2048;

export interface Window {
  /** Index of its text. */
  text: number;
  ids: readonly number[];
}

/** Calls `take` with each window's text and scores, in no particular order. Ends early once `signal` aborts. */
export async function scoreBatches(
  session: InferenceSession,
  windows: readonly Window[],
  signal: AbortSignal,
  take: (text: number, scores: Float32Array) => void,
): Promise<void> {
  const sorted = windows.toSorted((a, b) => a.ids.length - b.ids.length);
  for (let at = 0; at < sorted.length && !signal.aborted; ) {
    const batch = batchFrom(sorted, at);
    at += batch.length;
    const scores = await run(session, batch);
    const width = scores.length / batch.length;
    for (const [row, { text }] of batch.entries()) take(text, scores.subarray(row * width, (row + 1) * width));
  }
}

function batchFrom(sorted: readonly Window[], at: number): readonly Window[] {
  let end = at;
  while (end < sorted.length) {
    const longest = sorted[end]?.ids.length ?? 0;
    if (end > at && longest * (end - at + 1) > BATCH_TOKENS) break;
    end += 1;
  }
  return sorted.slice(at, end);
}

async function run(session: InferenceSession, batch: readonly Window[]): Promise<Float32Array> {
  const length = Math.max(...batch.map(({ ids }) => ids.length));
  const shape = [batch.length, length];
  const ids = new BigInt64Array(batch.length * length);
  const mask = new BigInt64Array(batch.length * length);
  for (const [row, window] of batch.entries()) {
    for (const [column, id] of window.ids.entries()) {
      ids[row * length + column] = BigInt(id);
      mask[row * length + column] = 1n;
    }
  }
  const { scores } = await session.run({
    ids: new Tensor("int64", ids, shape),
    mask: new Tensor("int64", mask, shape),
  });
  if (!(scores?.data instanceof Float32Array)) throw new Error("The network returned no scores");
  return scores.data;
}
