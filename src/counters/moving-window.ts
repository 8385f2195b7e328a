/** Each window is counted in this many slices, which bounds what is kept for it however many claims there are. */
export const SLICES = 1_000;

export interface Slice {
  /** Which slice since the clock's beginning. */
  number: number;
  amount: number;
}

/**
 * What was used during the last `windowSeconds`. A slice is counted until its last moment has left the window: no
 * window of that length ever holds more than was granted, and room comes back late by at most a thousandth of it.
 */
export class MovingWindow {
  readonly #sliceMilliseconds: number;
  /** Oldest first. */
  #slices: Slice[] = [];
  #total = 0;

  constructor(windowSeconds: number) {
    this.#sliceMilliseconds = (windowSeconds * 1000) / SLICES;
  }

  /** What is in use at `now`, in milliseconds of a clock that never goes back. */
  used(now: number): number {
    const oldest = this.#sliceNumber(now) - SLICES;
    const left = this.#slices.findIndex((slice) => slice.number >= oldest);
    const gone = this.#slices.splice(0, left === -1 ? this.#slices.length : left);
    for (const slice of gone) this.#total -= slice.amount;
    return this.#total;
  }

  /** Adds to what was used at `at`, unless that has left the window. It never becomes less than nothing. */
  correct(difference: number, at: number, now: number): void {
    this.used(now);
    const number = this.#sliceNumber(at);
    if (difference === 0 || number < this.#sliceNumber(now) - SLICES) return;
    // Nearly always the last one.
    const position = this.#slices.findLastIndex((each) => each.number < number) + 1;
    let slice = this.#slices[position];
    if (slice?.number !== number) {
      slice = { number, amount: 0 };
      this.#slices.splice(position, 0, slice);
    }
    const change = Math.max(difference, -slice.amount);
    slice.amount += change;
    this.#total += change;
  }

  /** What is still counted, oldest first. */
  slices(now: number): readonly Slice[] {
    this.used(now);
    return this.#slices;
  }

  /** Seconds from `now` until no more than `most` is in use. */
  secondsUntil(most: number, now: number): number {
    let remaining = this.used(now);
    for (const slice of this.#slices) {
      if (remaining <= most) break;
      remaining -= slice.amount;
      if (remaining <= most) return ((slice.number + SLICES + 1) * this.#sliceMilliseconds - now) / 1000;
    }
    return 0;
  }

  #sliceNumber(at: number): number {
    return Math.floor(at / this.#sliceMilliseconds);
  }
}
