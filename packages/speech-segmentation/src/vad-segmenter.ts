/** Cuts a recording at pauses, while it streams in, into segments of speech that a model can take at once. */

import { SAMPLE_RATE } from "./audio-format.ts";
import { SampleBuffer } from "./sample-buffer.ts";

export interface SpeechSegment {
  samples: Float32Array;
  startSeconds: number;
  endSeconds: number;
}

/** Finds speech in one recording; the interface of sherpa-onnx's detector. */
export interface VadStream {
  acceptWaveform(samples: Float32Array): void;
  /** Whether no finished stretch of speech is waiting. */
  isEmpty(): boolean;
  /** Whether the most recent window is speech. */
  isDetected(): boolean;
  /** `start` counts samples since the last reset. */
  front(enableExternalBuffer: boolean): { start: number; samples: Float32Array };
  pop(): void;
  flush(): void;
  reset(): void;
}

/** Samples that Silero takes at once at 16 kHz. */
export const WINDOW_SAMPLES = 512;
/** Kept around detected speech, because words begin and end softly. */
const PADDING_SAMPLES = 0.2 * SAMPLE_RATE;
/** Speech without a pause is cut at its quietest point between these two. */
const MIN_FORCED_CUT_SAMPLES = 12 * SAMPLE_RATE;
const MAX_SEGMENT_SAMPLES = 24 * SAMPLE_RATE;

export const BUFFER_SECONDS = 60;

/** `vad` must be fresh or reset. `onProgress` receives the number of samples read so far. */
export async function* segmentSpeech(
  recording: AsyncIterable<Float32Array>,
  vad: VadStream,
  onProgress: (samples: number) => void,
): AsyncGenerator<SpeechSegment> {
  const buffer = new SampleBuffer(BUFFER_SECONDS * SAMPLE_RATE);
  let speechStart: number | undefined;
  let lastEnd = 0;

  const cut = (from: number, to: number): SpeechSegment => {
    const start = Math.max(lastEnd, from);
    const end = Math.min(buffer.end, Math.max(start, to));
    lastEnd = end;
    return { samples: buffer.slice(start, end), startSeconds: start / SAMPLE_RATE, endSeconds: end / SAMPLE_RATE };
  };
  const takeDetected = function* (): Generator<SpeechSegment> {
    for (; !vad.isEmpty(); vad.pop()) {
      const { start, samples } = vad.front(false);
      yield cut(start - PADDING_SAMPLES, start + samples.length + PADDING_SAMPLES);
      speechStart = undefined;
    }
  };

  for await (const window of toWindows(recording)) {
    buffer.append(window);
    onProgress(buffer.end);
    vad.acceptWaveform(window);
    yield* takeDetected();
    if (!vad.isDetected()) {
      buffer.discardBefore(Math.max(lastEnd, buffer.end - BUFFER_SECONDS * SAMPLE_RATE));
      continue;
    }
    speechStart ??= buffer.end - PADDING_SAMPLES;
    const from = Math.max(lastEnd, speechStart);
    if (buffer.end - from < MAX_SEGMENT_SAMPLES) continue;
    yield cut(from, buffer.quietestPosition(from + MIN_FORCED_CUT_SAMPLES, buffer.end));
    buffer.discardBefore(lastEnd);
  }
  vad.flush();
  yield* takeDetected();
}

/** All of the same length but the last, which is shorter. */
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
