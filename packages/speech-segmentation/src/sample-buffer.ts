/** The most recent part of a recording, addressed by sample position from its beginning. */

import { SAMPLE_RATE } from "./audio-format.ts";

/** A pause this short lies between words or within a plosive. */
const QUIET_SAMPLES = 0.06 * SAMPLE_RATE;

export class SampleBuffer {
  readonly #minSamples: number;
  #samples: Float32Array;
  #start = 0;
  end = 0;

  /** Holds at least the last `minSamples`, and more until discarded. */
  constructor(minSamples: number) {
    this.#minSamples = minSamples;
    this.#samples = new Float32Array(2 * minSamples);
  }

  append(samples: Float32Array): void {
    const length = this.end - this.#start;
    if (length + samples.length > this.#samples.length) {
      const larger = new Float32Array(2 * this.#samples.length);
      larger.set(this.#samples.subarray(0, length));
      this.#samples = larger;
    }
    this.#samples.set(samples, length);
    this.end += samples.length;
  }

  slice(from: number, to: number): Float32Array {
    return this.#samples.slice(from - this.#start, to - this.#start);
  }

  /** Discards samples before `position`. */
  discardBefore(position: number): void {
    const count = position - this.#start;
    // Moving the remaining samples is too slow to do for each window.
    if (count < this.#minSamples / 2) return;
    this.#samples.copyWithin(0, count, this.end - this.#start);
    this.#start = position;
  }

  /** The middle of the quietest 60 ms between two positions. */
  quietestPosition(from: number, to: number): number {
    let best = from;
    let bestEnergy = Number.POSITIVE_INFINITY;
    for (let start = from; start + QUIET_SAMPLES <= to; start += QUIET_SAMPLES / 4) {
      let energy = 0;
      for (const sample of this.#samples.subarray(start - this.#start, start - this.#start + QUIET_SAMPLES))
        energy += sample * sample;
      if (energy >= bestEnergy) continue;
      bestEnergy = energy;
      best = start + QUIET_SAMPLES / 2;
    }
    return Math.round(best);
  }
}
