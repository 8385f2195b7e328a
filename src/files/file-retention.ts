/** Deletes files that have expired, abandoned uploads, and the files of archived projects. */

import { setTimeout as pause } from "node:timers/promises";
import type { Logger } from "../observability/logger.ts";
import type { Database } from "../storage/database.ts";
import { listRemovableFiles } from "../storage/files.ts";
import type { FileStore } from "./file-store.ts";

export interface FileRetentionOptions {
  database: Database;
  files: Pick<FileStore, "remove">;
  logger: Logger;
}

const INTERVAL_MS = 600_000;
const FIRST_RUN_MS = 60_000;
/** No upload takes this long. */
const ABANDONED_AFTER_MS = 2 * 86_400_000;
const REMOVED_AT_ONCE = 100;
/** Lets other work use the database between two batches. */
const PAUSE_MS = 50;

export class FileRetention {
  readonly #options: FileRetentionOptions;
  readonly #timers: NodeJS.Timeout[];
  #isClosed = false;

  constructor(options: FileRetentionOptions) {
    this.#options = options;
    this.#timers = [
      setTimeout(() => void this.removeOld(), FIRST_RUN_MS).unref(),
      setInterval(() => void this.removeOld(), INTERVAL_MS).unref(),
    ];
  }

  async removeOld(now = Date.now()): Promise<void> {
    const { database, files, logger } = this.#options;
    const bounds = { now, abandonedBefore: now - ABANDONED_AFTER_MS, max: REMOVED_AT_ONCE };
    try {
      for (;;) {
        const found = await database.run((executor) => listRemovableFiles(executor, bounds));
        for (const file of found) await files.remove(file);
        if (found.length < REMOVED_AT_ONCE || this.#isClosed) return;
        await pause(PAUSE_MS);
      }
    } catch (error) {
      logger.warn({ err: error }, "expired files not removed yet");
    }
  }

  close(): void {
    this.#isClosed = true;
    for (const timer of this.#timers) clearTimeout(timer);
  }
}
