/** Cuts segments of speech where another speaker takes over without a pause. */

import { SAMPLE_RATE } from "./audio-format.ts";
import { quietestPosition } from "./quietest-position.ts";
import type { SpeechSegment } from "./vad-segmenter.ts";

/** Maps speech to a vector of length 1 that is similar for the same voice. */
export type EmbedVoice = (speech: Float32Array) => Promise<Float32Array>;

/** Compared before and after a possible change. */
const WINDOW_SECONDS = 1.5;
const STEP_SECONDS = 0.25;
/** Chosen on dialogues of six speakers: 0.1 misses changes. */
const MAX_SIMILARITY = 0.2;
/** The cut is at the quietest point within this distance of the most likely change. */
const SEARCH_SECONDS = 0.5;

export async function* splitAtVoiceChanges(
  segments: AsyncIterable<SpeechSegment>,
  embed: EmbedVoice,
): AsyncGenerator<SpeechSegment> {
  for await (const segment of segments) {
    let rest = segment;
    for (const seconds of await voiceChanges(segment, embed)) {
      const [first, second] = cut(rest, seconds);
      yield first;
      rest = second;
    }
    yield rest;
  }
}

/** Times of the recording, in order, at least a window apart. */
async function voiceChanges({ samples, startSeconds, speech }: SpeechSegment, embed: EmbedVoice): Promise<number[]> {
  const from = speech[0]?.startSeconds ?? startSeconds;
  const to = speech.at(-1)?.endSeconds ?? from;
  const indexOf = (seconds: number) => Math.round((seconds - startSeconds) * SAMPLE_RATE);
  const voiceFrom = (seconds: number) => embed(samples.subarray(indexOf(seconds), indexOf(seconds + WINDOW_SECONDS)));
  const voices: Float32Array[] = [];
  for (let seconds = from; seconds + WINDOW_SECONDS <= to; seconds += STEP_SECONDS) {
    voices.push(await voiceFrom(seconds));
  }
  const apart = WINDOW_SECONDS / STEP_SECONDS;
  const similarities = voices.slice(apart).map((after, index) => dot(voices[index], after));
  const changes: number[] = [];
  const inOrder = [...similarities.entries()].sort(([, a], [, b]) => a - b);
  for (const [index, similarity] of inOrder) {
    if (similarity >= MAX_SIMILARITY) break;
    const around = from + index * STEP_SECONDS + WINDOW_SECONDS;
    const range = [indexOf(around - SEARCH_SECONDS), indexOf(around + SEARCH_SECONDS)] as const;
    const seconds = startSeconds + quietestPosition(samples, ...range) / SAMPLE_RATE;
    if (changes.every((other) => Math.abs(other - seconds) >= WINDOW_SECONDS)) changes.push(seconds);
  }
  return changes.sort((a, b) => a - b);
}

function cut(
  { samples, startSeconds, endSeconds, speech }: SpeechSegment,
  seconds: number,
): [SpeechSegment, SpeechSegment] {
  const at = Math.round((seconds - startSeconds) * SAMPLE_RATE);
  const before = speech.filter((range) => range.startSeconds < seconds);
  const after = speech.filter((range) => range.endSeconds > seconds);
  return [
    {
      samples: samples.subarray(0, at),
      startSeconds,
      endSeconds: seconds,
      speech: before.map((range) => ({ ...range, endSeconds: Math.min(range.endSeconds, seconds) })),
    },
    {
      samples: samples.subarray(at),
      startSeconds: seconds,
      endSeconds,
      speech: after.map((range) => ({ ...range, startSeconds: Math.max(range.startSeconds, seconds) })),
    },
  ];
}

function dot(a: Float32Array | undefined, b: Float32Array): number {
  return b.reduce((sum, value, index) => sum + value * (a?.[index] ?? 0), 0);
}
