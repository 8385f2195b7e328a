import { setImmediate as nextTurn } from "node:timers/promises";

/** Other requests wait for at most one slice and one step. */
const SLICE_MS = 10;

/**
 * Returns a function for between the steps of long work, which lets the event loop turn where it has not for some
 * milliseconds. Queries of SQLite end without a turn. The function throws the signal's reason once that aborts, which
 * takes a turn as well.
 */
export function turns(signal?: AbortSignal): () => Promise<void> {
  let sliceEnd = performance.now() + SLICE_MS;
  return async () => {
    if (performance.now() >= sliceEnd) {
      await nextTurn();
      sliceEnd = performance.now() + SLICE_MS;
    }
    signal?.throwIfAborted();
  };
}
