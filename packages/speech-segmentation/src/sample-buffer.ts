/** The most recent part of a recording, addressed by sample position from its beginning. */

import { quietestPosition } from "./quietest-position.ts";

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

  /** See the function of this name. */
  quietestPosition(from: number, to: number): number {
    return this.#start + quietestPosition(this.#samples, from - this.#start, to - this.#start);
  }
}
