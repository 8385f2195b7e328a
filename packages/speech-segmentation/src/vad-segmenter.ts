/** Cuts a recording at pauses, while it streams in, into segments of speech that a model can take at once. */

import { SAMPLE_RATE } from "./audio-format.ts";
import { SampleBuffer } from "./sample-buffer.ts";
import { type VadStream, WINDOW_SAMPLES } from "./silero-vad.ts";
import { type DetectorOptions, SpeechDetector } from "./speech-detector.ts";

export interface SpeechSegment {
  samples: Float32Array;
  startSeconds: number;
  endSeconds: number;
}

const DETECTION: DetectorOptions = { threshold: 0.5, minSpeechSeconds: 0.2, minSilenceSeconds: 0.45 };
/** Long speech is cut at shorter pauses, before it has to be cut within speech. */
const LONG_SPEECH_SAMPLES = 12 * SAMPLE_RATE;
const LONG_SPEECH_DETECTION: DetectorOptions = { threshold: 0.9, minSpeechSeconds: 0.2, minSilenceSeconds: 0.1 };
/** Kept around detected speech, because words begin and end softly. */
const PADDING_SAMPLES = 0.2 * SAMPLE_RATE;
/** Speech without a pause is cut at its quietest point between these two. */
const MIN_FORCED_CUT_SAMPLES = 12 * SAMPLE_RATE;
const MAX_SEGMENT_SAMPLES = 24 * SAMPLE_RATE;
/** Silence kept for the padding of speech that has not begun. */
const BUFFER_SAMPLES = 60 * SAMPLE_RATE;

/** `onProgress` receives the number of samples read so far. */
export async function* segmentSpeech(
  recording: AsyncIterable<Float32Array>,
  vad: VadStream,
  onProgress: (samples: number) => void,
): AsyncGenerator<SpeechSegment> {
  const buffer = new SampleBuffer(BUFFER_SAMPLES);
  const detector = new SpeechDetector();
  let lastEnd = 0;

  const cut = (from: number, to: number): SpeechSegment => {
    const start = Math.max(lastEnd, from);
    const end = Math.min(buffer.end, Math.max(start, to));
    lastEnd = end;
    return { samples: buffer.slice(start, end), startSeconds: start / SAMPLE_RATE, endSeconds: end / SAMPLE_RATE };
  };

  for await (const window of toWindows(recording)) {
    const position = buffer.end;
    buffer.append(window);
    onProgress(buffer.end);
    const probability = await vad.probability(window);
    const speechFrom = Math.max(lastEnd, detector.speechStart ?? position);
    const options = buffer.end - speechFrom < LONG_SPEECH_SAMPLES ? DETECTION : LONG_SPEECH_DETECTION;
    const range = detector.accept(probability, position, buffer.end, options);
    if (range !== undefined) yield cut(range.start - PADDING_SAMPLES, range.end + PADDING_SAMPLES);
    if (detector.speechStart === undefined) {
      buffer.discardBefore(Math.max(lastEnd, buffer.end - BUFFER_SAMPLES));
      continue;
    }
    const from = Math.max(lastEnd, detector.speechStart - PADDING_SAMPLES);
    if (buffer.end - from < MAX_SEGMENT_SAMPLES) continue;
    yield cut(from, buffer.quietestPosition(from + MIN_FORCED_CUT_SAMPLES, buffer.end));
    buffer.discardBefore(lastEnd);
  }
  const last = detector.finish(buffer.end);
  if (last !== undefined) yield cut(last.start - PADDING_SAMPLES, last.end + PADDING_SAMPLES);
}

/** All of the same length but the last, which may be shorter. */
async function* toWindows(recording: AsyncIterable<Float32Array>): AsyncGenerator<Float32Array> {
  let rest = new Float32Array(0);
  for await (const samples of recording) {
    const all = new Float32Array(rest.length + samples.length);
    all.set(rest);
    all.set(samples, rest.length);
    let start = 0;
    for (; start + WINDOW_SAMPLES <= all.length; start += WINDOW_SAMPLES) {
      yield all.subarray(start, start + WINDOW_SAMPLES);
    }
    rest = all.slice(start);
  }
  if (rest.length > 0) yield rest;
}
