import { backoffDelay } from "../../kernel/async/backoff.ts";
import { Fault, unavailable } from "../../kernel/faults.ts";

const BACKOFF_MS = { initial: 15_000, max: 600_000 };

/** The last failure to load a model, and the pause before the next attempt. */
export class LoadFailure {
  #fault: Fault | undefined;
  #failures = 0;
  #retryAt = 0;

  /** Undefined: the last attempt succeeded, or failed for memory that may be free with the next request. */
  get fault(): Fault | undefined {
    return this.#fault;
  }

  /** Milliseconds until the model may be loaded again. */
  get backoffMs(): number {
    return this.#fault === undefined ? 0 : Math.max(0, this.#retryAt - performance.now());
  }

  /** Milliseconds until the next attempt in the background. */
  get pauseMs(): number {
    return this.#fault === undefined ? BACKOFF_MS.initial : this.backoffMs;
  }

  record(failure: unknown): void {
    const fault = failure instanceof Fault ? failure : unavailable(String(failure), "engine_failed", 60, failure);
    if (fault.code === "insufficient_memory") {
      this.clear();
      return;
    }
    this.#fault = fault;
    this.#failures += 1;
    this.#retryAt = performance.now() + backoffDelay(this.#failures, BACKOFF_MS);
  }

  clear(): void {
    this.#fault = undefined;
    this.#failures = 0;
  }
}
