import type { Logger } from "../observability/logger.ts";
import { removeBatchesBefore } from "../storage/batches.ts";
import type { Database } from "../storage/database.ts";
import { Retention } from "../storage/retention.ts";

const REMOVED_AT_ONCE = 100;
const DAY_MS = 86_400_000;

/** Deletes batches that ended more than `days` ago, and those of archived projects. */
export function batchRetention({
  database,
  logger,
  days,
}: {
  database: Database;
  logger: Logger;
  days: number;
}): Retention {
  const removeSome = (now: number) =>
    database.run((executor) => removeBatchesBefore(executor, now - days * DAY_MS, REMOVED_AT_ONCE));
  return new Retention({ subject: "batches", logger, steps: [removeSome] });
}
