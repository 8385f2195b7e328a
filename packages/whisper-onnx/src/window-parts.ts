/** Divides windows of speech into parts that are decoded one after the other. */

import { SAMPLE_RATE } from "@parlance-inference/speech-segmentation/audio-format";
import { quietestPosition } from "@parlance-inference/speech-segmentation/quietest-position";
import type { SpeechSegment } from "@parlance-inference/speech-segmentation/vad-segmenter";
import type { SplitWindow } from "./split-segments.ts";
import { WINDOW_SECONDS } from "./whisper-graphs.ts";
import type { EncoderOutput } from "./whisper-network.ts";

/** A window of speech, or a part of one. */
export interface SpeechWindow extends SpeechSegment {
  /** Undefined: not detected yet. */
  language?: string | undefined;
  /** Undefined: not encoded yet. */
  encoderOutput?: EncoderOutput | undefined;
}

/**
 * Windows end where speech ends, so audio that the model did not transcribe is decoded again: after an unfinished segment
 * when more remains than the padding around speech, otherwise when more remains than timestamps are inaccurate by.
 */
const MIN_REMAINDER_SECONDS = { unfinished: 0.4, finished: 1 };

/** What the model encodes: 30 seconds, with silence at the end. */
export function padToWindow(samples: Float32Array): Float32Array {
  const padded = new Float32Array(WINDOW_SECONDS * SAMPLE_RATE);
  padded.set(samples.subarray(0, padded.length));
  return padded;
}

/** What the model did not transcribe. */
export function remainderOf(window: SpeechWindow, { transcribedSeconds, isUnfinished }: SplitWindow): SpeechWindow[] {
  const from = Math.round(transcribedSeconds * SAMPLE_RATE);
  const minSeconds = isUnfinished ? MIN_REMAINDER_SECONDS.unfinished : MIN_REMAINDER_SECONDS.finished;
  if (from === 0 || window.samples.length - from < minSeconds * SAMPLE_RATE) return [];
  return [partOf(window, from, window.samples.length)];
}

/** Divided at the quietest point of the middle third. */
export function halvesOf(window: SpeechWindow): SpeechWindow[] {
  const { length } = window.samples;
  const middle = quietestPosition(window.samples, Math.round(length / 3), Math.round((length * 2) / 3));
  return [partOf(window, 0, middle), partOf(window, middle, length)];
}

/** Divided in every pause: a part for each of the window's ranges of speech. */
export function partsAtPauses(window: SpeechWindow): SpeechWindow[] {
  const cuts = pauses(window);
  return [0, ...cuts].map((from, index) => partOf(window, from, cuts[index] ?? window.samples.length));
}

/** Divided in the pauses where the language changes; `stretches` are the window's ranges of speech. */
export function partsByLanguage(
  window: SpeechWindow,
  stretches: readonly Pick<SpeechWindow, "language" | "encoderOutput">[],
): SpeechWindow[] {
  const cuts = [...pauses(window), window.samples.length];
  const parts: SpeechWindow[] = [];
  let [first, from] = [0, 0];
  for (const [index, { language, encoderOutput }] of stretches.entries()) {
    if (language === stretches[index + 1]?.language) continue;
    const to = cuts[index] ?? window.samples.length;
    parts.push({ ...partOf(window, from, to), language, ...(first === index && { encoderOutput }) });
    [first, from] = [index + 1, to];
  }
  return parts;
}

/** The middle of each pause, as a position in the samples. */
function pauses({ startSeconds, samples, speech }: SpeechWindow): number[] {
  return speech.slice(1).map((next, index) => {
    const end = speech[index]?.endSeconds ?? startSeconds;
    return Math.min(samples.length, Math.round(((end + next.startSeconds) / 2 - startSeconds) * SAMPLE_RATE));
  });
}

function partOf(window: SpeechWindow, from: number, to: number): SpeechWindow {
  const { samples, startSeconds, endSeconds, speech, language } = window;
  return {
    speech,
    language,
    samples: samples.subarray(from, to),
    startSeconds: startSeconds + from / SAMPLE_RATE,
    endSeconds: Math.min(endSeconds, startSeconds + to / SAMPLE_RATE),
  };
}
