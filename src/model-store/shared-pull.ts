import type { ProgressListener, PullProgress } from "./pull-progress.ts";

/** One download that several callers wait for. It is aborted when the last of them aborts. */
export class SharedPull<Result> {
  readonly #leaving = new AbortController();
  readonly #listeners = new Set<ProgressListener>();
  readonly #result: Promise<Result>;
  readonly #onAbandoned: () => void;
  #waiting = 0;
  #latest: PullProgress | undefined;

  constructor(run: (signal: AbortSignal, report: ProgressListener) => Promise<Result>, onAbandoned: () => void) {
    this.#onAbandoned = onAbandoned;
    this.#result = run(this.#leaving.signal, (progress) => {
      this.#latest = progress;
      for (const listener of this.#listeners) listener(progress);
    });
    // All callers may have aborted before it fails; the others get the failure through `join`.
    this.#result.catch(() => {});
  }

  get latest(): PullProgress | undefined {
    return this.#latest;
  }

  /** Resolves once it has succeeded or failed, and cleaned up. */
  async ended(): Promise<void> {
    await this.#result.catch(() => {});
  }

  /** Rejects with the signal's reason as soon as it aborts. */
  async join(signal: AbortSignal, onProgress: ProgressListener | undefined): Promise<Result> {
    const abandoned = Promise.withResolvers<never>();
    const leave = () => abandoned.reject(signal.reason);
    signal.addEventListener("abort", leave, { once: true });
    // Wrapped, because two callers may pass the same function and a Set would keep it once.
    const listener: ProgressListener = (progress) => onProgress?.(progress);
    this.#listeners.add(listener);
    this.#waiting += 1;
    try {
      return await Promise.race([this.#result, abandoned.promise]);
    } finally {
      signal.removeEventListener("abort", leave);
      this.#listeners.delete(listener);
      this.#waiting -= 1;
      if (this.#waiting === 0) this.#abandon(signal);
    }
  }

  #abandon(signal: AbortSignal): void {
    if (!signal.aborted) return;
    this.#onAbandoned();
    this.#leaving.abort(signal.reason);
  }
}
