import { DAY_MS, MINUTE_MS } from "../../kernel/durations.ts";
import { Retention } from "../../kernel/jobs/retention.ts";
import type { Logger } from "../../kernel/logger.ts";
import type { Database } from "../../storage/database.ts";
import { markRemovable, removeDeleted } from "./vector-store-queries.ts";

const INTERVAL_MS = 10 * MINUTE_MS;
const REMOVED_AT_ONCE = 200;
/** An expired store is shown as expired for this time before its content is removed. */
const EXPIRED_FOR_MS = 30 * DAY_MS;

/** Removes the content of deleted and expired stores, and the stores of archived projects. */
export function vectorStoreRetention({ database, logger }: { database: Database; logger: Logger }): Retention {
  return new Retention({
    subject: "vector stores",
    logger,
    intervalMs: INTERVAL_MS,
    steps: [
      async (now) => {
        await database.run((executor) => markRemovable(executor, now, now - EXPIRED_FOR_MS));
        return 0;
      },
      () => database.transaction((executor) => removeDeleted(executor, REMOVED_AT_ONCE)),
    ],
  });
}
