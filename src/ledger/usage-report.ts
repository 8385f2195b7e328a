/** What an organisation used, in buckets of time. */

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

export class UsageReports {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Nano-dollars since `from`, the beginning of a UTC day, that an organisation, a project or a key has cost. */
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
    const sums = await this.#database.run((executor) => readUsage(executor, { ...order, from, until }));
    const byBucket = Map.groupBy(sums, ({ beginsAt }) => beginsAt);
    const buckets: UsageBucket[] = [];
    for (let beginsAt = from; beginsAt < until; beginsAt += width) {
      buckets.push({ beginsAt, endsAt: beginsAt + width, sums: byBucket.get(beginsAt) ?? [] });
    }
    return { buckets, next: until < order.until ? until : undefined };
  }
}
