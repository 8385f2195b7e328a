/** Splits a window's tokens into segments at its timestamp tokens. */

import type { WhisperTokenizer } from "./whisper-tokenizer.ts";

export interface TimedSegment {
  /** Relative to the window, as is `endSeconds`. */
  startSeconds: number;
  endSeconds: number;
  /** Includes the timestamps. */
  tokens: readonly number[];
}

export interface SplitWindow {
  segments: TimedSegment[];
  /** End of the last complete segment. */
  transcribedSeconds: number;
  /** Whether the model started another segment that it did not complete. */
  isUnfinished: boolean;
}

type Timestamps = Pick<WhisperTokenizer, "isTimestamp" | "secondsOf">;

/** Splits the tokens of a window of `windowSeconds`; without timestamps, they are one segment. */
export function splitAtTimestamps(
  tokens: readonly number[],
  windowSeconds: number,
  tokenizer: Timestamps,
): SplitWindow {
  const isTimestamp = tokens.map((token) => tokenizer.isTimestamp(token));
  const endsInSingleTimestamp = isTimestamp.at(-1) === true && isTimestamp.at(-2) === false;
  const boundaries = isTimestamp.flatMap((is, index) => (is && isTimestamp[index - 1] === true ? [index] : []));
  if (boundaries.length === 0) {
    // A timestamp at index 0 is the start, not the end.
    const last = tokens.findLast((token, index) => index > 0 && tokenizer.isTimestamp(token));
    const end = last === undefined ? windowSeconds : tokenizer.secondsOf(last);
    const startSeconds = isTimestamp[0] === true ? tokenizer.secondsOf(tokens[0] ?? 0) : 0;
    const endSeconds = Math.max(startSeconds, Math.min(end, windowSeconds));
    return {
      segments: [{ startSeconds, endSeconds, tokens }],
      transcribedSeconds: endSeconds,
      isUnfinished: false,
    };
  }
  const ends = endsInSingleTimestamp ? [...boundaries, tokens.length] : boundaries;
  const segments = ends.map((end, index) => {
    const segmentTokens = tokens.slice(ends[index - 1] ?? 0, end);
    return {
      startSeconds: clampedSeconds(segmentTokens.at(0)),
      endSeconds: clampedSeconds(segmentTokens.at(-1)),
      tokens: segmentTokens,
    };
  });
  return {
    segments,
    transcribedSeconds: segments.at(-1)?.endSeconds ?? windowSeconds,
    isUnfinished: !endsInSingleTimestamp,
  };

  function clampedSeconds(token: number | undefined): number {
    return Math.min(windowSeconds, token === undefined ? 0 : Math.max(0, tokenizer.secondsOf(token)));
  }
}
