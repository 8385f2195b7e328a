/** Finds matches in a long text without keeping the event loop busy. */

import { setImmediate as nextTurn } from "node:timers/promises";
import { type Match, resolveOverlaps } from "./match.ts";

export interface SliceOptions {
  /** UTF-16 code units that are searched at once. */
  slice?: number;
  /** Code units after a slice into which its matches may reach; also of context before it. */
  overlap?: number;
  /** Time after which other work gets its turn. */
  turnMs?: number;
}

const SLICE = 8192;
const OVERLAP = 512;
const TURN_MS = 8;

/** Returns the matches at once for a text of one slice. `signal` ends the search with its reason. */
export function findInSlices(
  text: string,
  find: (slice: string) => readonly Match[],
  options: SliceOptions & { signal?: AbortSignal | undefined } = {},
): readonly Match[] | Promise<readonly Match[]> {
  const { slice = SLICE } = options;
  return text.length <= slice ? find(text) : findInTurns(text, find, options);
}

async function findInTurns(
  text: string,
  find: (slice: string) => readonly Match[],
  { slice = SLICE, overlap = OVERLAP, turnMs = TURN_MS, signal }: SliceOptions & { signal?: AbortSignal | undefined },
): Promise<readonly Match[]> {
  const matches: Match[] = [];
  let turnBeganAt = performance.now();
  for (let from = 0; from < text.length; from += slice) {
    const until = from + slice;
    const contextStart = Math.max(0, from - overlap);
    for (const match of find(text.slice(contextStart, until + overlap))) {
      const start = contextStart + match.start;
      if (start < until && contextStart + match.end > from)
        matches.push({ ...match, start, end: contextStart + match.end });
    }
    if (performance.now() - turnBeganAt < turnMs) continue;
    await nextTurn();
    signal?.throwIfAborted();
    turnBeganAt = performance.now();
  }
  return resolveOverlaps(matches);
}
