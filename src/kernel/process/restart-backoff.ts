import { backoffDelay } from "../async/backoff.ts";

export interface RestartBackoffOptions {
  firstSeconds: number;
  lastSeconds: number;
  /** Uptime after which the process counts as healthy and the number of failures starts at 0 again. */
  stableSeconds: number;
}

/** Keeps models that crashed together from restarting in step. */
const JITTER = [0.75, 1.25] as const;

/** Exponential backoff between a crash and the restart. */
export class RestartBackoff {
  readonly #options: RestartBackoffOptions;
  #failures = 0;

  constructor(options: RestartBackoffOptions) {
    this.#options = options;
  }

  /** Number of consecutive crashes. */
  get failures(): number {
    return this.#failures;
  }

  /** Returns the seconds until the next start, after a process that was up for `upSeconds` (0: it never was). */
  next(upSeconds: number): number {
    const { firstSeconds, lastSeconds, stableSeconds } = this.#options;
    if (upSeconds >= stableSeconds) this.#failures = 0;
    this.#failures += 1;
    return backoffDelay(this.#failures, { initial: firstSeconds, max: lastSeconds, jitter: JITTER });
  }
}
