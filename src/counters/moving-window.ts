/** Slices per window, which bounds its memory regardless of the number of claims. */
export const SLICES = 1_000;

export interface Slice {
  /** Index of the slice since the clock's epoch. */
  number: number;
  amount: number;
}

/**
 * Sliding window in fixed slices. A slice counts until its end has left the window: no window of that length ever
 * exceeds the limit, and capacity returns at most a thousandth of the window late.
 */
export class MovingWindow {
  readonly #windowSeconds: number;
  /** Slices, oldest first. */
  #slices: Slice[] = [];
  #total = 0;

  constructor(windowSeconds: number) {
    this.#windowSeconds = windowSeconds;
  }

  /** Amount in use at `now`, in milliseconds of a monotonic clock. */
  used(now: number): number {
    const oldest = sliceNumber(now, this.#windowSeconds) - SLICES;
    const firstKept = this.#slices.findIndex((slice) => slice.number >= oldest);
    const gone = this.#slices.splice(0, firstKept === -1 ? this.#slices.length : firstKept);
    for (const slice of gone) this.#total -= slice.amount;
    return this.#total;
  }

  /** Adds to the usage at `at`, unless that has left the window. A slice never becomes negative. */
  correct(difference: number, at: number, now: number): void {
    this.used(now);
    const number = sliceNumber(at, this.#windowSeconds);
    if (difference === 0 || number < sliceNumber(now, this.#windowSeconds) - SLICES) return;
    // Almost always the last slice.
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

  /** Slices within the window, oldest first. */
  slices(now: number): readonly Slice[] {
    this.used(now);
    return this.#slices;
  }

  /** Seconds from `now` until at most `max` is in use. */
  secondsUntil(max: number, now: number): number {
    let remaining = this.used(now);
    for (const slice of this.#slices) {
      if (remaining <= max) break;
      remaining -= slice.amount;
      if (remaining <= max) return ((slice.number + SLICES + 1) * sliceMs(this.#windowSeconds) - now) / 1000;
    }
    return 0;
  }
}

/** Number of the slice in which a time in milliseconds is. */
export function sliceNumber(at: number, windowSeconds: number): number {
  return Math.floor(at / sliceMs(windowSeconds));
}

function sliceMs(windowSeconds: number): number {
  return (windowSeconds * 1000) / SLICES;
}
