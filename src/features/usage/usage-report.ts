/** Reads usage reports in time buckets. */

import { setImmediate as nextTurn } from "node:timers/promises";
import type { Caller } from "../../contracts/caller.ts";
import { DAY_SECONDS } from "../../kernel/durations.ts";
import { Fault } from "../../kernel/faults.ts";
import type { Database, Executor } from "../../storage/database.ts";
import type { SpendScope, SpendWindow } from "../quota/index.ts";
import { readSpent, readTopSpenders, type SubjectSpend } from "./spent-queries.ts";
import { readSliceEnd, readUsage, type UsageQuery, type UsageSum } from "./usage-report-queries.ts";
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

export class UsageReports {
  readonly #database: Database;
  readonly #readReplica: Database | undefined;

  /** Reports come from the read replica while it answers; limits never do, since it may lag behind. */
  constructor(database: Database, readReplica?: Database) {
    this.#database = database;
    this.#readReplica = readReplica;
  }

  /**
   * Cost in nano-dollars of an organization or project between two starts of UTC days; null if there was usage and none of
   * it has a price.
   */
  async spentBetween(
    { organizationId, projectId }: Pick<Caller, "organizationId" | "projectId">,
    scopeId: string,
    { from, until, visibility }: { from: number; until: number; visibility?: Visibility | undefined },
  ): Promise<number | null> {
    const narrowed = {
      visibility,
      ...(scopeId === projectId && { projectIds: [scopeId] }),
    };
    const query = { organizationId, operation: undefined, bucketSeconds: DAY_SECONDS, groupBy: [], from } as const;
    const sums: UsageSum[] = [];
    const read: ReadReport = (work) => this.#database.run(work);
    for await (const slice of slicesOf({ ...query, ...narrowed, until }, read)) sums.push(...slice.sums);
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
    const buckets: UsageBucket[] = [];
    for await (const slice of slicesOf({ ...order, from, until }, (work) => this.#readReport(work))) {
      const byBucket = Map.groupBy(slice.sums, ({ beginsAt }) => beginsAt);
      for (let beginsAt = slice.from; beginsAt < slice.until; beginsAt += width) {
        buckets.push({ beginsAt, endsAt: beginsAt + width, sums: byBucket.get(beginsAt) ?? [] });
      }
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

type ReadReport = <Result>(work: (executor: Executor) => Promise<Result>) => Promise<Result>;

/** Reads a report in parts of some thousand rows, between which others have their turn: SQLite blocks the event loop. */
async function* slicesOf(
  query: UsageQuery,
  read: ReadReport,
): AsyncGenerator<{ from: number; until: number; sums: UsageSum[] }> {
  for (let { from } = query; from < query.until; ) {
    const slice = { ...query, from };
    const until = await read((executor) => readSliceEnd(executor, slice));
    yield { from, until, sums: await read((executor) => readUsage(executor, { ...slice, until })) };
    from = until;
    await nextTurn();
  }
}
