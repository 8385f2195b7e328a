/** Finds speech in a recording and cuts it at pauses, as it comes, into pieces that a model takes at once. */

import type { Vad } from "./voice-activity.ts";

export const SAMPLE_RATE = 16_000;

export interface Piece {
  samples: Float32Array;
  startSeconds: number;
  endSeconds: number;
}

/** What Silero takes at once. */
export const WINDOW = 512;
/** Kept around what is found, for words begin and end softly. */
const PAD = 0.2 * SAMPLE_RATE;
/** Speech without a pause is cut where it is quietest between these two. */
const EARLIEST_CUT = 12 * SAMPLE_RATE;
const LATEST_CUT = 24 * SAMPLE_RATE;
/** A stretch so short is quiet only between words or within a stop. */
const QUIET = 0.06 * SAMPLE_RATE;

export const BUFFER_SECONDS = 60;

/** `vad` is this recording's alone, fresh or reset. `onHeard` is told how many samples came in all. */
export async function* cutAtPauses(
  recording: AsyncIterable<Float32Array>,
  vad: Vad,
  onHeard: (samples: number) => void,
): AsyncGenerator<Piece> {
  const heard = new Heard();
  let speechStart: number | undefined;
  let lastEnd = 0;

  const piece = (from: number, to: number): Piece => {
    const start = Math.max(lastEnd, from);
    const end = Math.min(heard.end, Math.max(start, to));
    lastEnd = end;
    const samples = heard.take(start, end);
    return { samples, startSeconds: start / SAMPLE_RATE, endSeconds: end / SAMPLE_RATE };
  };
  const found = function* (): Generator<Piece> {
    for (; !vad.isEmpty(); vad.pop()) {
      const { start, samples } = vad.front(false);
      yield piece(start - PAD, start + samples.length + PAD);
      speechStart = undefined;
    }
  };

  for await (const window of inWindows(recording)) {
    heard.add(window);
    onHeard(heard.end);
    vad.acceptWaveform(window);
    yield* found();
    if (!vad.isDetected()) {
      heard.forget(Math.max(lastEnd, heard.end - BUFFER_SECONDS * SAMPLE_RATE));
      continue;
    }
    speechStart ??= heard.end - PAD;
    const from = Math.max(lastEnd, speechStart);
    if (heard.end - from < LATEST_CUT) continue;
    yield piece(from, heard.quietest(from + EARLIEST_CUT, heard.end));
    heard.forget(lastEnd);
  }
  vad.flush();
  yield* found();
}

/** The last one is filled up with silence, which nothing is said in. */
async function* inWindows(recording: AsyncIterable<Float32Array>): AsyncGenerator<Float32Array> {
  let rest = new Float32Array(0);
  for await (const samples of recording) {
    const all = new Float32Array(rest.length + samples.length);
    all.set(rest);
    all.set(samples, rest.length);
    let start = 0;
    for (; start + WINDOW <= all.length; start += WINDOW) yield all.subarray(start, start + WINDOW);
    rest = all.slice(start);
  }
  if (rest.length > 0) yield rest;
}

/** The recording's last part, by the position of each sample from the beginning. */
class Heard {
  #samples = new Float32Array(2 * BUFFER_SECONDS * SAMPLE_RATE);
  #start = 0;
  end = 0;

  add(samples: Float32Array): void {
    const length = this.end - this.#start;
    if (length + samples.length > this.#samples.length) {
      const larger = new Float32Array(2 * this.#samples.length);
      larger.set(this.#samples.subarray(0, length));
      this.#samples = larger;
    }
    this.#samples.set(samples, length);
    this.end += samples.length;
  }

  take(from: number, to: number): Float32Array {
    return this.#samples.slice(from - this.#start, to - this.#start);
  }

  /** Nothing before `position` is asked for any more. */
  forget(position: number): void {
    const count = position - this.#start;
    // Moving what stays costs: not for every window.
    if (count < (BUFFER_SECONDS * SAMPLE_RATE) / 2) return;
    this.#samples.copyWithin(0, count, this.end - this.#start);
    this.#start = position;
  }

  /** The middle of the quietest stretch between two positions. */
  quietest(from: number, to: number): number {
    let best = from;
    let bestEnergy = Number.POSITIVE_INFINITY;
    for (let start = from; start + QUIET <= to; start += QUIET / 4) {
      let energy = 0;
      for (const sample of this.#samples.subarray(start - this.#start, start - this.#start + QUIET))
        energy += sample * sample;
      if (energy >= bestEnergy) continue;
      bestEnergy = energy;
      best = start + QUIET / 2;
    }
    return Math.round(best);
  }
}
