/** Reads the lines of a file once, to check them and to find them later, while others get turns of the event loop. */

import { turns } from "../../kernel/async/turns.ts";
import { type RawLine, readLines } from "./read-lines.ts";

/** Lines without content cost time, and no limit on requests bounds them. */
export const MAX_BLANK_LINES = 10_000;

/** Yields the lines as `readLines` does, blank ones too. Rejects with the signal's reason. */
export async function* scanLines(
  chunks: AsyncIterable<Uint8Array>,
  maxBytes: number,
  signal: AbortSignal,
): AsyncGenerator<RawLine> {
  const turn = turns(signal);
  for await (const line of readLines(untilAborted(chunks, signal), maxBytes)) {
    await turn();
    yield line;
  }
}

async function* untilAborted(chunks: AsyncIterable<Uint8Array>, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    signal.throwIfAborted();
    yield chunk;
  }
}
