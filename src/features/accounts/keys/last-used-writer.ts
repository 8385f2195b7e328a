/** Writes when and from where keys were last used, in batches instead of at every request. */

import { Poll } from "../../../kernel/jobs/poll.ts";
import type { Logger } from "../../../kernel/logger.ts";
import type { Database } from "../../../storage/database.ts";
import { recordActivity } from "../users/user-queries.ts";
import { type KeyUse, recordUse } from "./api-key-queries.ts";

export class LastUsedWriter {
  readonly #database: Database;
  readonly #logger: Logger;
  readonly #poll: Poll;
  #uses: Map<string, KeyUse> = new Map();
  #flushing: Promise<void> = Promise.resolve();

  constructor(database: Database, logger: Logger, everySeconds: number) {
    this.#database = database;
    this.#logger = logger;
    this.#poll = new Poll(() => this.flush(), { everyMs: everySeconds * 1000 });
  }

  /** Keeps the address and client of an earlier use that has them. */
  note(keyId: string, use: KeyUse): void {
    const earlier = use.address === undefined ? this.#uses.get(keyId) : undefined;
    this.#uses.set(keyId, earlier === undefined ? use : { ...earlier, time: use.time });
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
    const uses = this.#uses;
    if (uses.size === 0) return;
    this.#uses = new Map();
    try {
      await this.#database.transaction(async (transaction) => {
        // The same order in every process prevents deadlocks (SQLSTATE 40P01).
        for (const [keyId, use] of [...uses].sort(([a], [b]) => (a < b ? -1 : 1))) {
          await recordUse(transaction, keyId, use);
          await recordActivity(transaction, keyId, use.time);
        }
      });
    } catch (error) {
      this.#logger.warn(
        { error: error instanceof Error ? error.message : String(error) },
        "last use of API keys not written yet; it will be retried",
      );
      this.#uses = new Map([...uses, ...this.#uses]);
    }
  }
}
