/** Reads the lines of a file once, to check them and to find them later, while others get turns of the event loop. */

import { setImmediate as nextTurn } from "node:timers/promises";
import { type RawLine, readLines } from "./read-lines.ts";

/** Lines without content cost time, and no limit on requests bounds them. */
export const MAX_BLANK_LINES = 10_000;
/** Other requests wait for at most one slice and one line. */
const SLICE_MS = 10;

/** Yields the lines as `readLines` does, blank ones too. Rejects with the signal's reason. */
export async function* scanLines(
  chunks: AsyncIterable<Uint8Array>,
  maxBytes: number,
  signal: AbortSignal,
): AsyncGenerator<RawLine> {
  const takeTurns = turns(signal);
  for await (const line of readLines(untilAborted(chunks, signal), maxBytes)) {
    await takeTurns();
    yield line;
  }
}

/** Returns a step that gives others a turn of the event loop after each slice of work. */
function turns(signal: AbortSignal): () => Promise<void> {
  let sliceEnd = performance.now() + SLICE_MS;
  return async () => {
    if (performance.now() < sliceEnd) return;
    await nextTurn();
    signal.throwIfAborted();
    sliceEnd = performance.now() + SLICE_MS;
  };
}

async function* untilAborted(chunks: AsyncIterable<Uint8Array>, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    signal.throwIfAborted();
    yield chunk;
  }
}
