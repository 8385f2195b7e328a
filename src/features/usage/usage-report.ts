/** Reads usage reports in time buckets. */

import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { DAY_SECONDS } from "../../kernel/durations.ts";
import { Fault } from "../../kernel/faults.ts";
import type { Database, Executor } from "../../storage/database.ts";
import type { SpendScope, SpendWindow } from "../quota/index.ts";
import { readSpent, readTopSpenders, type SubjectSpend } from "./spent-queries.ts";
import { readUsage, type UsageQuery, type UsageSum } from "./usage-report-queries.ts";
import type { Visibility } from "./visibility.ts";

type TopSpendersOrder = Parameters<typeof readTopSpenders> extends [unknown, ...infer Order] ? Order : never;

export interface ReportRequest extends Omit<UsageQuery, "from" | "until"> {
  /** Epoch milliseconds; rounded down to its bucket. */
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
  /** Buckets in order, including empty ones. */
  buckets: UsageBucket[];
  /** Start of the next page; undefined on the last one. */
  next: number | undefined;
  /** Kind of the labels in the sums. */
  labelKind: ReportRequest["labelKind"];
}

/**
 * Buckets per query, by width. SQLite blocks the event loop while it reads (about a second for a day of a million
 * requests), and PostgreSQL has a statement timeout.
 */
const BUCKETS_AT_ONCE = { 60: 30, 3600: 6, 86400: 2 } as const;

export class UsageReports {
  readonly #database: Database;
  readonly #readReplica: Database | undefined;

  /** Reports come from the read replica while it answers; limits never do, since it may lag behind. */
  constructor(database: Database, readReplica?: Database) {
    this.#database = database;
    this.#readReplica = readReplica;
  }

  /**
   * Cost in nano-dollars of an organization, project or key between two starts of UTC days; null if there was usage and
   * none of it has a price.
   */
  async spentBetween(
    { organizationId, projectId, keyId }: { organizationId: string; projectId: string | undefined; keyId: string },
    scopeId: string,
    { from, until, visibility }: { from: number; until: number; visibility?: Visibility | undefined },
  ): Promise<number | null> {
    const narrowed = {
      visibility,
      ...(scopeId === projectId && { projectIds: [scopeId] }),
      ...(scopeId === keyId && { keyIds: [scopeId] }),
    };
    const query = { organizationId, operation: undefined, bucketSeconds: DAY_SECONDS, groupBy: [], from } as const;
    const sums = await this.#database.run((executor) => readUsage(executor, { ...query, ...narrowed, until }));
    if (sums.length > 0 && sums.every(({ costNanoDollars }) => costNanoDollars === null)) return null;
    return sums.reduce((sum, { costNanoDollars }) => sum + (costNanoDollars ?? 0), 0);
  }

  /** Nano-dollars that a scope has spent in a window. */
  async spentIn(scope: SpendScope, window: SpendWindow): Promise<number> {
    return this.#database.run((executor) => readSpent(executor, scope, window));
  }

  /** The subjects that have spent most in a window. */
  async topSpenders(...order: TopSpendersOrder): Promise<SubjectSpend[]> {
    return this.#database.run((executor) => readTopSpenders(executor, ...order));
  }

  async read({ maxBuckets, ...order }: ReportRequest): Promise<UsageReport> {
    const width = order.bucketSeconds * 1000;
    const from = Math.floor(order.from / width) * width;
    const until = Math.min(Math.ceil(order.until / width) * width, from + maxBuckets * width);
    const atOnce = BUCKETS_AT_ONCE[order.bucketSeconds] * width;
    const buckets: UsageBucket[] = [];
    for (let start = from; start < until; start += atOnce) {
      const part = { ...order, from: start, until: Math.min(start + atOnce, until) };
      const sums = await this.#readReport((executor) => readUsage(executor, part));
      const byBucket = Map.groupBy(sums, ({ beginsAt }) => beginsAt);
      for (let beginsAt = part.from; beginsAt < part.until; beginsAt += width) {
        buckets.push({ beginsAt, endsAt: beginsAt + width, sums: byBucket.get(beginsAt) ?? [] });
      }
      await yieldToEventLoop();
    }
    return { buckets, next: until < order.until ? until : undefined, labelKind: order.labelKind };
  }

  async #readReport<Result>(work: (executor: Executor) => Promise<Result>): Promise<Result> {
    if (this.#readReplica === undefined) return await this.#database.run(work);
    try {
      return await this.#readReplica.run(work);
    } catch (failure) {
      if (!(failure instanceof Fault)) throw failure;
      return await this.#database.run(work);
    }
  }
}
