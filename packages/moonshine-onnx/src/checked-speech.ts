import { SAMPLE_RATE } from "@parlance-inference/speech-segmentation/audio-format";
import { joinSamples } from "@parlance-inference/speech-segmentation/speech-of";
import type { SpeechSegment } from "@parlance-inference/speech-segmentation/vad-segmenter";

/** Receives the first seconds of speech of a recording, or all of a shorter one. */
export type SpeechCheck = (speech: Float32Array) => Promise<void>;

/** Enough to recognize a language, and short enough for a first text soon after. */
const CHECKED_SAMPLES = 6 * SAMPLE_RATE;

/** Yields the segments after `check` has seen the first of them. Ends with what it throws. */
export async function* checked(
  segments: AsyncIterable<SpeechSegment>,
  check: SpeechCheck | undefined,
): AsyncGenerator<SpeechSegment> {
  if (check === undefined) {
    yield* segments;
    return;
  }
  const first: SpeechSegment[] = [];
  let isChecked = false;
  let count = 0;
  for await (const segment of segments) {
    if (isChecked) {
      yield segment;
      continue;
    }
    first.push(segment);
    count += segment.samples.length;
    if (count < CHECKED_SAMPLES) continue;
    await check(firstSeconds(first));
    isChecked = true;
    yield* first;
  }
  if (isChecked || first.length === 0) return;
  await check(firstSeconds(first));
  yield* first;
}

function firstSeconds(segments: readonly SpeechSegment[]): Float32Array {
  return joinSamples(segments.map(({ samples }) => samples)).subarray(0, CHECKED_SAMPLES);
}
