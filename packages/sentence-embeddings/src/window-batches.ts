/** Groups windows of similar length, so that little of a batch is padding. */

/** More tokens at once are no faster on a CPU, and other requests and an abort wait for one batch: some 40 ms. */
const BATCH_TOKENS = 512;

export interface Window {
  /** Index of its input. */
  input: number;
  /** Special tokens included. */
  ids: readonly number[];
}

/** Shortest first; each batch has at least one window. */
export function* windowBatches(windows: readonly Window[]): Generator<readonly Window[], void> {
  const sorted = windows.toSorted((a, b) => a.ids.length - b.ids.length);
  let start = 0;
  for (const [index, { ids }] of sorted.entries()) {
    if (index === start || ids.length * (index - start + 1) <= BATCH_TOKENS) continue;
    yield sorted.slice(start, index);
    start = index;
  }
  if (start < sorted.length) yield sorted.slice(start);
}
