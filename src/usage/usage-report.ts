/** What an organization used, in buckets of time. */

import { setImmediate as othersDone } from "node:timers/promises";
import type { Database } from "../storage/database.ts";
import { readUsage, type UsageQuery, type UsageSum } from "../storage/usage-reports.ts";

export interface ReportOrder extends Omit<UsageQuery, "from" | "until"> {
  /** Epoch milliseconds; the bucket that it falls into is the first. */
  from: number;
  /** Exclusive. */
  until: number;
  maxBuckets: number;
}

interface UsageBucket {
  /** Epoch milliseconds. */
  beginsAt: number;
  endsAt: number;
  sums: UsageSum[];
}

export interface UsageReport {
  /** All of them in their order, those without use too. */
  buckets: UsageBucket[];
  /** Where the next report begins; undefined when this one goes to the end. */
  next: number | undefined;
}

/**
 * Of each width. SQLite holds up all else that this process does while it reads, which for a day of a million requests
 * would be a second, and PostgreSQL's statements have to end in time.
 */
const BUCKETS_AT_ONCE = { 60: 30, 3600: 6, 86400: 2 } as const;

export class UsageReports {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Nano-dollars since `from`, the beginning of a UTC day, that an organization, a project or a key has cost. */
  async spentSince(
    { organizationId, projectId, keyId }: { organizationId: string; projectId: string | undefined; keyId: string },
    scopeId: string,
    from: number,
  ): Promise<number> {
    const narrowed = {
      ...(scopeId === projectId && { projectIds: [scopeId] }),
      ...(scopeId === keyId && { keyIds: [scopeId] }),
    };
    const query = { organizationId, operation: undefined, bucketSeconds: 86_400, groupBy: [], from } as const;
    const until = Number.MAX_SAFE_INTEGER;
    const sums = await this.#database.run((executor) => readUsage(executor, { ...query, ...narrowed, until }));
    return sums.reduce((sum, { costNanoDollars }) => sum + (costNanoDollars ?? 0), 0);
  }

  async read({ maxBuckets, ...order }: ReportOrder): Promise<UsageReport> {
    const width = order.bucketSeconds * 1000;
    const from = Math.floor(order.from / width) * width;
    const until = Math.min(Math.ceil(order.until / width) * width, from + maxBuckets * width);
    const atOnce = BUCKETS_AT_ONCE[order.bucketSeconds] * width;
    const buckets: UsageBucket[] = [];
    for (let start = from; start < until; start += atOnce) {
      const part = { ...order, from: start, until: Math.min(start + atOnce, until) };
      const sums = await this.#database.run((executor) => readUsage(executor, part));
      const byBucket = Map.groupBy(sums, ({ beginsAt }) => beginsAt);
      for (let beginsAt = part.from; beginsAt < part.until; beginsAt += width) {
        buckets.push({ beginsAt, endsAt: beginsAt + width, sums: byBucket.get(beginsAt) ?? [] });
      }
      await othersDone();
    }
    return { buckets, next: until < order.until ? until : undefined };
  }
}
