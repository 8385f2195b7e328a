import { MINUTE_MS } from "../durations.ts";

/** Time without progress after which a job that waits leaves its place to others. */
const MAX_WAIT_MS = MINUTE_MS;
/** Bounds of the time after which it is due again: a start reads its input, and the limit may be raised meanwhile. */
const RETRY_MS = { min: 5_000, max: 5 * MINUTE_MS };

/** Notices that a job does nothing but wait for limits and models that refuse its requests for now. */
export class Standstill {
  #progressAt = Date.now();
  #retryAt = 0;

  /** Begins the time without progress again: a request was answered, or the first one may be sent. */
  progress(): void {
    this.#progressAt = Date.now();
  }

  /** Notes that a request was refused, with what the refusal said. */
  refused(retryAfterSeconds = 0): void {
    this.#retryAt = Date.now() + Math.ceil(retryAfterSeconds * 1000);
  }

  /** How a job ends that waits for the end of a refusal now; undefined: it keeps its place. */
  get end(): { retryAfterMs: number } | undefined {
    const now = Date.now();
    if (now - this.#progressAt < MAX_WAIT_MS) return undefined;
    return { retryAfterMs: Math.min(RETRY_MS.max, Math.max(RETRY_MS.min, this.#retryAt - now)) };
  }
}
