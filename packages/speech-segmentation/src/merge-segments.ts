/** Merges segments of speech into windows, for models that take as long for one word as for half a minute. */

import { SAMPLE_RATE } from "./audio-format.ts";
import type { SpeechSegment } from "./vad-segmenter.ts";

/** Shorter pauses become silence within a window; a longer one starts the next window. */
const MAX_PAUSE_SECONDS = 2;

/** Windows of at most `maxSeconds`; a longer segment stays alone. */
export async function* mergeSegments(
  segments: AsyncIterable<SpeechSegment>,
  maxSeconds: number,
): AsyncGenerator<SpeechSegment> {
  let pending: SpeechSegment[] = [];
  for await (const segment of segments) {
    const [first] = pending;
    const pauseSeconds = segment.startSeconds - (pending.at(-1)?.endSeconds ?? 0);
    const isFull = first !== undefined && segment.endSeconds - first.startSeconds > maxSeconds;
    if (first !== undefined && (isFull || pauseSeconds > MAX_PAUSE_SECONDS)) {
      yield join(pending);
      pending = [];
    }
    pending.push(segment);
  }
  if (pending.length > 0) yield join(pending);
}

function join(segments: readonly SpeechSegment[]): SpeechSegment {
  const startSeconds = segments[0]?.startSeconds ?? 0;
  const endSeconds = segments.at(-1)?.endSeconds ?? 0;
  const offsetOf = (seconds: number) => Math.round((seconds - startSeconds) * SAMPLE_RATE);
  const length = Math.max(0, ...segments.map((segment) => offsetOf(segment.startSeconds) + segment.samples.length));
  const samples = new Float32Array(length);
  for (const segment of segments) samples.set(segment.samples, offsetOf(segment.startSeconds));
  return { samples, startSeconds, endSeconds, speech: segments.flatMap(({ speech }) => speech) };
}
