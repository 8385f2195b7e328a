/** A window's tokens cut into segments at the times among them. */

import type { Vocabulary } from "./vocabulary.ts";

export interface TimedTokens {
  /** In the window. */
  startSeconds: number;
  endSeconds: number;
  /** Its times included. */
  tokens: readonly number[];
}

export interface CutWindow {
  segments: TimedTokens[];
  /** Up to where the window was told. */
  toldSeconds: number;
  /** Whether the model means to go on from there. */
  goesOn: boolean;
}

type Times = Pick<Vocabulary, "isTime" | "secondsOf">;

export function cutAtTimes(tokens: readonly number[], windowSeconds: number, vocabulary: Times): CutWindow {
  const isTime = tokens.map((token) => vocabulary.isTime(token));
  const endsInOneTime = isTime.at(-1) === true && isTime.at(-2) === false;
  const cuts = isTime.flatMap((is, index) => (is && isTime[index - 1] === true ? [index] : []));
  if (cuts.length === 0) {
    // A time at the beginning alone does not tell the end.
    const last = tokens.findLast((token, index) => index > 0 && vocabulary.isTime(token));
    const end = last === undefined ? windowSeconds : vocabulary.secondsOf(last);
    const first = isTime[0] === true ? vocabulary.secondsOf(tokens[0] ?? 0) : 0;
    const segment = { startSeconds: first, endSeconds: Math.max(first, Math.min(end, windowSeconds)), tokens };
    return { segments: [segment], toldSeconds: segment.endSeconds, goesOn: false };
  }
  const ends = endsInOneTime ? [...cuts, tokens.length] : cuts;
  const segments = ends.map((end, index) => {
    const own = tokens.slice(ends[index - 1] ?? 0, end);
    return { startSeconds: timeOf(own.at(0)), endSeconds: timeOf(own.at(-1)), tokens: own };
  });
  return { segments, toldSeconds: segments.at(-1)?.endSeconds ?? windowSeconds, goesOn: !endsInOneTime };

  function timeOf(token: number | undefined): number {
    return Math.min(windowSeconds, token === undefined ? 0 : Math.max(0, vocabulary.secondsOf(token)));
  }
}
