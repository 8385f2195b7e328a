import { DAY_MS } from "../../kernel/durations.ts";
import { Retention } from "../../kernel/jobs/retention.ts";
import type { Logger } from "../../kernel/logger.ts";
import type { Database } from "../../storage/database.ts";
import type { BlobStore } from "../files/index.ts";
import { partsFolder } from "./batch-parts.ts";
import { listRemovableBatches, removeBatches } from "./batch-queries.ts";

export interface BatchRetentionOptions {
  database: Database;
  blobs: Pick<BlobStore, "delete">;
  logger: Logger;
  days: number;
}

const REMOVED_AT_ONCE = 100;

/** Deletes batches that ended more than `days` ago, and those of archived projects. */
export function batchRetention({ database, blobs, logger, days }: BatchRetentionOptions): Retention {
  const removeSome = async (now: number) => {
    const ids = await database.run((executor) => listRemovableBatches(executor, now - days * DAY_MS, REMOVED_AT_ONCE));
    // A batch that failed, or whose storage was unavailable at its end, has left parts behind.
    for (const id of ids) await blobs.delete(partsFolder(id));
    if (ids.length > 0) await database.run((executor) => removeBatches(executor, ids));
    return ids.length;
  };
  return new Retention({ subject: "batches", logger, steps: [removeSome] });
}
