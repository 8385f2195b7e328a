import { DAY_MS } from "../../kernel/durations.ts";
import { Retention } from "../../kernel/jobs/retention.ts";
import type { Logger } from "../../kernel/logger.ts";
import type { Database } from "../../storage/database.ts";
import { listRemovableFiles } from "./file-queries.ts";
import type { FileStore } from "./file-store.ts";

export interface FileRetentionOptions {
  database: Database;
  files: Pick<FileStore, "remove">;
  logger: Logger;
}

const INTERVAL_MS = 600_000;
/** No upload takes this long. */
const ABANDONED_AFTER_MS = 2 * DAY_MS;
const REMOVED_AT_ONCE = 100;

/** Deletes files that have expired, abandoned uploads, and the files of archived projects. */
export function fileRetention({ database, files, logger }: FileRetentionOptions): Retention {
  const removeSome = async (now: number) => {
    const bounds = { now, abandonedBefore: now - ABANDONED_AFTER_MS, max: REMOVED_AT_ONCE };
    const removable = await database.run((executor) => listRemovableFiles(executor, bounds));
    for (const file of removable) await files.remove(file);
    return removable.length;
  };
  return new Retention({ subject: "files", logger, intervalMs: INTERVAL_MS, steps: [removeSome] });
}
