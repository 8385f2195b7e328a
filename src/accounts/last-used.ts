/** When keys were last used, gathered and written now and then instead of at every request. */

import type { Logger } from "../observability/logger.ts";
import { recordUse } from "../storage/api-keys.ts";
import type { Database } from "../storage/database.ts";

export class LastUsed {
  readonly #database: Database;
  readonly #logger: Logger;
  readonly #timer: NodeJS.Timeout;
  #times: Map<string, number> = new Map();
  #flushing: Promise<void> = Promise.resolve();

  constructor(database: Database, logger: Logger, everySeconds: number) {
    this.#database = database;
    this.#logger = logger;
    this.#timer = setInterval(() => void this.flush(), everySeconds * 1000).unref();
  }

  /** `time` in epoch milliseconds. */
  note(keyId: string, time: number): void {
    this.#times.set(keyId, time);
  }

  /** Writes what was noted; what cannot be written now is kept for the next time. */
  flush(): Promise<void> {
    this.#flushing = this.#flushing.then(() => this.#write());
    return this.#flushing;
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.flush();
  }

  async #write(): Promise<void> {
    const times = this.#times;
    if (times.size === 0) return;
    this.#times = new Map();
    try {
      await this.#database.transaction(async (transaction) => {
        // In one order in every process, so that two of them cannot wait for each other.
        for (const [keyId, time] of [...times].sort(([a], [b]) => (a < b ? -1 : 1))) {
          await recordUse(transaction, keyId, time);
        }
      });
    } catch (error) {
      this.#logger.warn({ error: error instanceof Error ? error.message : String(error) }, "key use not written yet");
      this.#times = new Map([...times, ...this.#times]);
    }
  }
}
