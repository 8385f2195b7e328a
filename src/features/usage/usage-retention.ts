/** How long single requests are kept. Rollups stay. */

import { DAY_MS } from "../../kernel/durations.ts";
import type { Logger } from "../../observability/logger.ts";
import type { Database } from "../../storage/database.ts";
import { Retention } from "../../storage/retention.ts";
import { removeRequestDimensionsBefore, removeRequestsBefore } from "./request-history-queries.ts";
import { removeUsageBefore, removeUsageWritersBefore } from "./usage-record-queries.ts";

export interface UsageRetentionOptions {
  database: Database;
  logger: Logger;
  days: number;
}

const REMOVED_AT_ONCE = 500;
/** A journal that is older counts nothing twice. */
const WRITERS_KEPT_DAYS = 30;

/** Of usage records. */
export function usageRetention({ database, logger, days }: UsageRetentionOptions): Retention {
  const writerDays = Math.max(WRITERS_KEPT_DAYS, days);
  return new Retention({
    subject: "usage records",
    logger,
    steps: [
      (now) => database.run((executor) => removeUsageBefore(executor, now - days * DAY_MS, REMOVED_AT_ONCE)),
      async (now) => {
        await database.run((executor) => removeUsageWritersBefore(executor, now - writerDays * DAY_MS));
        return 0;
      },
    ],
  });
}

/** Of the request history. */
export function historyRetention({ database, logger, days }: UsageRetentionOptions): Retention {
  const steps = [removeRequestsBefore, removeRequestDimensionsBefore].map(
    (remove) => (now: number) => database.run((executor) => remove(executor, now - days * DAY_MS, REMOVED_AT_ONCE)),
  );
  // Entries first: dimensions last as long as their entries.
  return new Retention({ subject: "request history", logger, steps });
}
