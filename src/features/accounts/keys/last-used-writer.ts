/** Writes when keys were last used, in batches instead of at every request. */

import { Poll } from "../../../kernel/jobs/poll.ts";
import type { Logger } from "../../../observability/logger.ts";
import type { Database } from "../../../storage/database.ts";
import { recordUse } from "./api-key-queries.ts";

export class LastUsedWriter {
  readonly #database: Database;
  readonly #logger: Logger;
  readonly #poll: Poll;
  #times: Map<string, number> = new Map();
  #flushing: Promise<void> = Promise.resolve();

  constructor(database: Database, logger: Logger, everySeconds: number) {
    this.#database = database;
    this.#logger = logger;
    this.#poll = new Poll(() => this.flush(), { everyMs: everySeconds * 1000 });
  }

  /** `time` in epoch milliseconds. */
  note(keyId: string, time: number): void {
    this.#times.set(keyId, time);
  }

  /** Writes the recorded times; what cannot be written is kept for the next flush. */
  flush(): Promise<void> {
    this.#flushing = this.#flushing.then(() => this.#write());
    return this.#flushing;
  }

  async close(): Promise<void> {
    this.#poll.stop();
    await this.flush();
  }

  async #write(): Promise<void> {
    const times = this.#times;
    if (times.size === 0) return;
    this.#times = new Map();
    try {
      await this.#database.transaction(async (transaction) => {
        // The same order in every process prevents deadlocks (SQLSTATE 40P01).
        for (const [keyId, time] of [...times].sort(([a], [b]) => (a < b ? -1 : 1))) {
          await recordUse(transaction, keyId, time);
        }
      });
    } catch (error) {
      this.#logger.warn(
        { error: error instanceof Error ? error.message : String(error) },
        "last use of API keys not written yet; it will be retried",
      );
      this.#times = new Map([...times, ...this.#times]);
    }
  }
}
