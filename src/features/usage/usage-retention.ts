/** How long usage by the minute and the request history are kept. Sums of hours and days stay. */

import { DAY_MS } from "../../kernel/durations.ts";
import { Retention } from "../../kernel/jobs/retention.ts";
import type { Logger } from "../../kernel/logger.ts";
import type { Database } from "../../storage/database.ts";
import { removeRequestDimensionsBefore, removeRequestsBefore } from "./request-history-queries.ts";
import {
  removeLabelHoursBefore,
  removeMinutesBefore,
  removeRecordsBefore,
  removeUsageWritersBefore,
} from "./usage-queries.ts";

export interface UsageRetentionOptions {
  database: Database;
  logger: Logger;
  days: number;
}

const REMOVED_AT_ONCE = 500;
/** A journal that is older counts nothing twice. */
const WRITERS_KEPT_DAYS = 30;

/** Deletes usage by the minute, that of labels by the hour, and the single requests that earlier versions recorded. */
export function usageRetention({ database, logger, days }: UsageRetentionOptions): Retention {
  const removals = [removeMinutesBefore, removeLabelHoursBefore, removeRecordsBefore].map(
    (remove) => (now: number) => database.run((executor) => remove(executor, now - days * DAY_MS, REMOVED_AT_ONCE)),
  );
  const writerDays = Math.max(WRITERS_KEPT_DAYS, days);
  return new Retention({
    subject: "usage by the minute",
    logger,
    steps: [
      ...removals,
      async (now) => {
        await database.run((executor) => removeUsageWritersBefore(executor, now - writerDays * DAY_MS));
        return 0;
      },
    ],
  });
}

/** Deletes expired request history. */
export function historyRetention({ database, logger, days }: UsageRetentionOptions): Retention {
  const steps = [removeRequestsBefore, removeRequestDimensionsBefore].map(
    (remove) => (now: number) => database.run((executor) => remove(executor, now - days * DAY_MS, REMOVED_AT_ONCE)),
  );
  // Entries first: dimensions last as long as their entries.
  return new Retention({ subject: "request history", logger, steps });
}
