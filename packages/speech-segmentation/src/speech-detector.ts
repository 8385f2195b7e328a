/** Turns probabilities of speech into stretches of speech, with hysteresis as in Silero's own `VADIterator`. */

import { SAMPLE_RATE } from "./audio-format.ts";

export interface DetectorOptions {
  /** Speech starts above this probability and continues down to 0.15 below it. */
  threshold: number;
  /** Unbroken speech that confirms a start. */
  minSpeechSeconds: number;
  /** Silence that ends a stretch. */
  minSilenceSeconds: number;
}

/** In samples from the start of the recording. */
export interface SpeechRange {
  start: number;
  end: number;
}

const HYSTERESIS = 0.15;

export class SpeechDetector {
  /** Start of the first window of speech, confirmed or not. */
  #start: number | undefined;
  #isConfirmed = false;
  /** End of the first quiet window of a possible pause. */
  #pauseStart: number | undefined;

  /** Start of the speech in progress; undefined in silence and until the start is confirmed. */
  get speechStart(): number | undefined {
    return this.#isConfirmed ? this.#start : undefined;
  }

  /** Takes the probability of the window from `from` to `to` and returns the stretch that it completes. */
  accept(probability: number, from: number, to: number, options: DetectorOptions): SpeechRange | undefined {
    const { threshold } = options;
    if (probability > threshold) {
      this.#pauseStart = undefined;
      this.#start ??= from;
      this.#isConfirmed ||= to - this.#start >= options.minSpeechSeconds * SAMPLE_RATE;
      return undefined;
    }
    if (!this.#isConfirmed) {
      this.#start = undefined;
      return undefined;
    }
    if (probability > threshold - HYSTERESIS) return undefined;
    this.#pauseStart ??= to;
    return to - this.#pauseStart < options.minSilenceSeconds * SAMPLE_RATE ? undefined : this.finish(to);
  }

  /** Returns the speech in progress, which ends at the last pause or, without one, at `position`. */
  finish(position: number): SpeechRange | undefined {
    const start = this.speechStart;
    const end = this.#pauseStart ?? position;
    this.#start = undefined;
    this.#isConfirmed = false;
    this.#pauseStart = undefined;
    return start === undefined ? undefined : { start, end };
  }
}
