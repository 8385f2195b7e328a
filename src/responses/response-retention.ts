/** Deletes responses and conversations that were not used for the configured days, and those of archived projects. */

import { setTimeout as pause } from "node:timers/promises";
import type { Logger } from "../observability/logger.ts";
import { removeConversationsBefore } from "../storage/conversations.ts";
import type { Database } from "../storage/database.ts";
import {
  listArchivedProjectsWithContent,
  removeResponsesBefore,
  removeStoredContentOf,
} from "../storage/stored-responses.ts";

export interface ResponseRetentionOptions {
  database: Database;
  logger: Logger;
  keepDays: number;
}

const INTERVAL_MS = 3_600_000;
const FIRST_RUN_MS = 60_000;
const REMOVED_AT_ONCE = 100;
/** Lets other work use the database between two batches. */
const PAUSE_MS = 50;
const DAY_MS = 86_400_000;

export class ResponseRetention {
  readonly #options: ResponseRetentionOptions;
  readonly #timers: NodeJS.Timeout[];
  #isClosed = false;

  constructor(options: ResponseRetentionOptions) {
    this.#options = options;
    this.#timers = [
      setTimeout(() => void this.removeOld(), FIRST_RUN_MS).unref(),
      setInterval(() => void this.removeOld(), INTERVAL_MS).unref(),
    ];
  }

  async removeOld(now = Date.now()): Promise<void> {
    const { database, logger, keepDays } = this.#options;
    const before = now - keepDays * DAY_MS;
    try {
      for (const remove of [removeResponsesBefore, removeConversationsBefore]) {
        for (;;) {
          const removed = await database.transaction((executor) => remove(executor, before, REMOVED_AT_ONCE));
          if (removed < REMOVED_AT_ONCE || this.#isClosed) break;
          await pause(PAUSE_MS);
        }
      }
      for (const projectId of await database.run(listArchivedProjectsWithContent)) {
        await database.transaction((executor) => removeStoredContentOf(executor, projectId));
      }
    } catch (error) {
      logger.warn({ err: error }, "expired responses not removed yet");
    }
  }

  close(): void {
    this.#isClosed = true;
    for (const timer of this.#timers) clearTimeout(timer);
  }
}
