import type { TimeRange } from "./vad-segmenter.ts";

/**
 * Moves a start in silence to where speech begins and an end in silence to where speech ended, so that subtitles do not
 * appear early and words are not stretched over pauses. Unchanged when no speech would remain.
 */
export function snapToSpeech<Timed extends TimeRange>(timed: Timed, speech: readonly TimeRange[]): Timed {
  const inside = speech.filter(
    ({ startSeconds, endSeconds }) => startSeconds < timed.endSeconds && endSeconds > timed.startSeconds,
  );
  const [first] = inside;
  const last = inside.at(-1);
  if (first === undefined || last === undefined) return timed;
  return {
    ...timed,
    startSeconds: Math.max(timed.startSeconds, first.startSeconds),
    endSeconds: Math.min(timed.endSeconds, last.endSeconds),
  };
}
