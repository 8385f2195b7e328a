/** Cuts a recording at pauses, while it streams in, into segments of speech that a model can take at once. */

import { SAMPLE_RATE, WINDOW_SAMPLES } from "./audio-format.ts";
import { SampleBuffer } from "./sample-buffer.ts";
import type { VadStream } from "./silero-vad.ts";
import { type DetectorOptions, SpeechDetector, type SpeechRange } from "./speech-detector.ts";

export interface SpeechSegment {
  /** Speech with padding. */
  samples: Float32Array;
  startSeconds: number;
  endSeconds: number;
  /** Where speech was detected in it. */
  speech: readonly TimeRange[];
}

export interface TimeRange {
  startSeconds: number;
  endSeconds: number;
}

export interface SegmenterOptions extends DetectorOptions {
  /** Kept before and after detected speech, because words begin and end softly. */
  paddingSeconds: { before: number; after: number };
  /** Pauses up to this length stay in the next segment's audio. */
  maxKeptPauseSeconds: number;
}

/**
 * A threshold of 0.5 or 0.2 s of unbroken speech loses short words such as "Ask not" at the start of a sentence; less than
 * 0.3 s of padding cuts off soft starts.
 */
const DEFAULTS: SegmenterOptions = {
  threshold: 0.35,
  minSpeechSeconds: 0.1,
  minSilenceSeconds: 0.45,
  paddingSeconds: { before: 0.4, after: 0.25 },
  maxKeptPauseSeconds: 0,
};
/** Long speech is cut at shorter pauses, before it has to be cut within speech. */
const LONG_SPEECH_SAMPLES = 12 * SAMPLE_RATE;
const LONG_SPEECH_DETECTION = { threshold: 0.9, minSilenceSeconds: 0.1 };
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
  options: Partial<SegmenterOptions> = {},
): AsyncGenerator<SpeechSegment> {
  const detection = { ...DEFAULTS, ...options };
  const longSpeechDetection = { ...detection, ...LONG_SPEECH_DETECTION };
  const paddingBefore = detection.paddingSeconds.before * SAMPLE_RATE;
  const paddingAfter = detection.paddingSeconds.after * SAMPLE_RATE;
  const maxKeptPause = detection.maxKeptPauseSeconds * SAMPLE_RATE;
  const buffer = new SampleBuffer(BUFFER_SAMPLES);
  const detector = new SpeechDetector();
  let lastEnd = 0;

  const cut = (from: number, to: number, speech: SpeechRange): SpeechSegment => {
    const isPauseKept = from - lastEnd <= maxKeptPause;
    const start = isPauseKept ? lastEnd : Math.max(lastEnd, from);
    const end = Math.min(buffer.end, Math.max(start, to));
    lastEnd = end;
    const range = { start: Math.max(start, speech.start), end: Math.min(end, speech.end) };
    return { samples: buffer.slice(start, end), ...toSeconds({ start, end }), speech: [toSeconds(range)] };
  };
  const cutPadded = (speech: SpeechRange) => cut(speech.start - paddingBefore, speech.end + paddingAfter, speech);

  for await (const window of toWindows(recording)) {
    const position = buffer.end;
    buffer.append(window);
    onProgress(buffer.end);
    const probability = await vad.probability(window);
    const speechFrom = Math.max(lastEnd, detector.speechStart ?? position);
    const isLong = buffer.end - speechFrom >= LONG_SPEECH_SAMPLES;
    const range = detector.accept(probability, position, buffer.end, isLong ? longSpeechDetection : detection);
    if (range !== undefined) yield cutPadded(range);
    if (detector.speechStart === undefined) {
      buffer.discardBefore(Math.max(lastEnd, buffer.end - BUFFER_SAMPLES));
      continue;
    }
    const from = Math.max(lastEnd, detector.speechStart - paddingBefore);
    if (buffer.end - from < MAX_SEGMENT_SAMPLES) continue;
    const to = buffer.quietestPosition(from + MIN_FORCED_CUT_SAMPLES, buffer.end);
    yield cut(from, to, { start: detector.speechStart, end: to });
    buffer.discardBefore(lastEnd);
  }
  const last = detector.finish(buffer.end);
  if (last !== undefined) yield cutPadded(last);
}

function toSeconds({ start, end }: SpeechRange): TimeRange {
  return { startSeconds: start / SAMPLE_RATE, endSeconds: end / SAMPLE_RATE };
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
