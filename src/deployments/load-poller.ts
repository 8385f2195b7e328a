/** Polls the load that an engine reports, beside the requests: none of them waits for it. */

import type { EngineLoad, LoadReport } from "../contracts/open-model.ts";
import { Poll } from "../kernel/jobs/poll.ts";

export interface PolledLoad extends EngineLoad {
  /** Requests that the engine serves for others than this process. */
  others: number;
}

/** Failed reads after which the last value is stale. */
const MAX_FAILURES = 2;

export class LoadPoller {
  readonly #report: LoadReport;
  readonly #ownRequests: () => number;
  readonly #stopped = new AbortController();
  #latest: PolledLoad | undefined;
  #failures = 0;
  readonly #poll: Poll;

  /** Begins at a random moment of the first interval, so that the polls of many deployments do not coincide. */
  constructor(report: LoadReport, ownRequests: () => number) {
    this.#report = report;
    this.#ownRequests = ownRequests;
    const everyMs = report.intervalSeconds * 1000;
    this.#poll = new Poll(() => this.#read(), { everyMs, firstMs: Math.random() * everyMs });
  }

  /** Last load; undefined while it is unknown or stale. */
  get latest(): PolledLoad | undefined {
    return this.#latest;
  }

  stop(): void {
    this.#stopped.abort();
    this.#poll.stop();
    this.#latest = undefined;
  }

  async #read(): Promise<void> {
    const { intervalSeconds } = this.#report;
    const timeout = new AbortController();
    const timer = setTimeout(() => timeout.abort(), intervalSeconds * 1000).unref();
    const onStop = () => timeout.abort();
    this.#stopped.signal.addEventListener("abort", onStop);
    const before = this.#ownRequests();
    try {
      const load = await Promise.race([this.#report.read(timeout.signal), rejected(timeout.signal)]);
      // A request that began or ended meanwhile may be counted by the engine or not.
      const localRequests = Math.max(before, this.#ownRequests());
      this.#failures = 0;
      if (!this.#stopped.signal.aborted) {
        this.#latest = { ...load, others: Math.max(0, load.running + load.waiting - localRequests) };
      }
    } catch {
      this.#failures += 1;
      if (this.#failures >= MAX_FAILURES) this.#latest = undefined;
    } finally {
      clearTimeout(timer);
      this.#stopped.signal.removeEventListener("abort", onStop);
    }
  }
}

/** Rejects once the signal aborts, also if what it was given to does not obey it. */
function rejected(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}
