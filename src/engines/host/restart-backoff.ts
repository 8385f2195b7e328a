import { backoffDelay } from "../../async/backoff.ts";

export interface RestartBackoffOptions {
  firstSeconds: number;
  lastSeconds: number;
  /** A process that ran this long counts as healthy: the next crash is a first one again. */
  stableSeconds: number;
}

/** Jitter, so that models that crashed together do not start in step. */
const JITTER = [0.75, 1.25] as const;

/** How long to wait before a crashed process is started again. */
export class RestartBackoff {
  readonly #options: RestartBackoffOptions;
  #failures = 0;

  constructor(options: RestartBackoffOptions) {
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
    this.#failures += 1;
    return backoffDelay(this.#failures, { initial: firstSeconds, max: lastSeconds, jitter: JITTER });
  }
}
