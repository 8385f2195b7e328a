export interface BackOffOptions {
  firstSeconds: number;
  lastSeconds: number;
  /** A process that ran this long counts as healthy: the next crash is a first one again. */
  stableSeconds: number;
}

/** How long to wait before a crashed process is started again: doubling, with jitter, so that models do not start in step. */
export class BackOff {
  readonly #options: BackOffOptions;
  #failures = 0;

  constructor(options: BackOffOptions) {
    this.#options = options;
  }

  /** Crashes in a row. */
  get failures(): number {
    return this.#failures;
  }

  /** Seconds until the next start, after a process that was up for `upSeconds` (0: it never was). */
  next(upSeconds: number): number {
    const { firstSeconds, lastSeconds, stableSeconds } = this.#options;
    if (upSeconds >= stableSeconds) this.#failures = 0;
    const delaySeconds = Math.min(lastSeconds, firstSeconds * 2 ** this.#failures);
    this.#failures += 1;
    return delaySeconds * (0.75 + 0.5 * Math.random());
  }
}
