/** History of single requests: buffered in memory, written in batches, kept for days. */

import { setImmediate as nextTurn, setTimeout as pause } from "node:timers/promises";
import type { RequestEntry } from "../../http/request-entry.ts";
import { resultWithin } from "../../kernel/async/timeout.ts";
import { Poll } from "../../kernel/jobs/poll.ts";
import type { Logger } from "../../kernel/logger.ts";
import type { Database } from "../../storage/database.ts";
import { isConstraintViolation } from "../../storage/errors.ts";
import type { RequestFilter } from "./request-filter.ts";
import {
  findRequest,
  type HistoryPage,
  type HistoryPosition,
  insertRequests,
  type MinuteSum,
  readBound,
  readFirstTokenTimes,
  readRequests,
  readRequestsSince,
  readSliceEnd,
  sumRequestsByMinute,
} from "./request-history-queries.ts";
import { REQUEST_COLUMNS, RequestRows } from "./request-rows.ts";
import { type RequestOrder, readSortedRequests, type SortedPage, type SortedPosition } from "./sorted-requests.ts";
import type { WriteTogether } from "./write-batches.ts";

export type { RequestEntry } from "../../http/request-entry.ts";
export type { RequestFilter } from "./request-filter.ts";
export type { HistoryPage, HistoryPosition, MinuteSum } from "./request-history-queries.ts";

export interface RequestHistoryOptions {
  database: Database;
  logger: Logger;
  /** Days to keep entries; 0: none are recorded. */
  days: number;
}

/** Delay of entries that no transaction of usage records has taken along. */
const WRITE_MS = 500;
/** Entries held while the database is unavailable; further ones are dropped, since usage records do not depend on them. */
const MAX_HELD = 20_000;
const POLL_MS = 1000;
/** Other replicas write entries late by their interval, and clocks differ. */
const LATE_MS = 5000;
const MAX_FOLLOWED_AT_ONCE = 500;
const CLOSE_MS = 2000;
/** Times of one range: enough for a percentile. */
const MAX_FIRST_TOKEN_TIMES = 1000;

export class RequestHistory {
  readonly #options: RequestHistoryOptions;
  readonly #poll: Poll;
  #held = new RequestRows();
  /** Batches being written, and those that the database could not take yet. */
  readonly #unwritten: RequestRows[] = [];
  /** Entries in memory. */
  #count = 0;
  #writing: Promise<unknown> = Promise.resolve();
  #writtenAt = 0;

  constructor(options: RequestHistoryOptions) {
    this.#options = options;
    this.#poll = new Poll(() => this.#tick(), { everyMs: WRITE_MS / 2 });
  }

  record(entry: RequestEntry): void {
    if (this.#options.days === 0 || this.#count >= MAX_HELD) return;
    this.#count += 1;
    this.#held.add(entry);
  }

  /** Records entries of a worker. */
  recordRows(rows: Pick<RequestRows, "dimensions" | "values">): void {
    const added = rows.values.length / REQUEST_COLUMNS.length;
    if (this.#options.days === 0 || this.#count + added > MAX_HELD) return;
    this.#count += added;
    this.#held.append(rows);
  }

  /** Writes what is held; keeps it for the next attempt while the database is unavailable. Never throws. */
  async flush(): Promise<void> {
    try {
      await this.#write((insert, batches) => (batches === 0 ? undefined : this.#options.database.transaction(insert)));
    } catch (error) {
      if (isConstraintViolation(error)) this.#drop(error);
      else this.#options.logger.debug({ error: String(error) }, "request history not written to the database yet");
    }
  }

  /**
   * Calls `write` with a function that inserts what is held, for a transaction with other records: each commit waits for
   * the disk. Keeps the entries, and throws its error, if `write` fails.
   */
  writeWith(write: WriteTogether): Promise<void> {
    return this.#write(write);
  }

  #write(write: (insert: Parameters<WriteTogether>[0], batches: number) => Promise<void> | undefined): Promise<void> {
    const written = this.#writing.then(async () => {
      if (this.#held.count > 0) {
        this.#unwritten.push(this.#held);
        this.#held = new RequestRows();
      }
      const batches = [...this.#unwritten];
      await write(async (transaction) => {
        for (const rows of batches) await insertRequests(transaction, rows);
      }, batches.length);
      this.#writtenAt = performance.now();
      this.#forget(batches.length);
    });
    this.#writing = written.catch(() => {});
    return written;
  }

  #tick(): void {
    if (this.#count > 0 && performance.now() - this.#writtenAt >= WRITE_MS) void this.flush();
  }

  /** Drops entries that the database can never store, which would block all later ones. */
  #drop(error: unknown): void {
    const entries = this.#forget(this.#unwritten.length);
    this.#options.logger.error({ entries, error: String(error) }, "entries of the request history lost");
  }

  #forget(batches: number): number {
    const entries = this.#unwritten.splice(0, batches).reduce((sum, rows) => sum + rows.count, 0);
    this.#count -= entries;
    return entries;
  }

  async list(filter: RequestFilter, before: HistoryPosition | undefined, limit: number): Promise<HistoryPage> {
    await this.flush();
    return this.#options.database.run((executor) => readRequests(executor, filter, before, limit));
  }

  /** Lists entries by a measure. Throws a Fault for a time range with too many. */
  async listSorted(
    filter: RequestFilter,
    order: RequestOrder,
    after: SortedPosition | undefined,
    limit: number,
    signal: AbortSignal,
  ): Promise<SortedPage> {
    await this.flush();
    return readSortedRequests(this.#options.database, filter, order, after, limit, signal);
  }

  async find(filter: RequestFilter, id: string): Promise<RequestEntry | undefined> {
    await this.flush();
    return this.#options.database.run((executor) => findRequest(executor, filter, id));
  }

  /** Yields entries as they are written by any replica, about a second later; undefined after a second without any. */
  async *follow(filter: RequestFilter, signal: AbortSignal): AsyncGenerator<RequestEntry | undefined> {
    const beganAt = Date.now();
    let seenIds = new Set<string>();
    while (!signal.aborted) {
      const since = Math.max(beganAt, Date.now() - LATE_MS - POLL_MS);
      await this.flush();
      const rows = await this.#options.database.run((executor) =>
        readRequestsSince(executor, filter, since, MAX_FOLLOWED_AT_ONCE),
      );
      for (const entry of rows) if (!seenIds.has(entry.id)) yield entry;
      seenIds = new Set(rows.map(({ id }) => id));
      yield undefined;
      await pause(POLL_MS, undefined, { signal, ref: false }).catch(() => {});
    }
  }

  /**
   * Sums requests by minute, of some thousand at a time, between which others have their turn: a minute with more comes
   * in several parts. Omits empty minutes. Times are epoch milliseconds.
   */
  async *minutes(filter: RequestFilter, from: number, until: number): AsyncGenerator<MinuteSum> {
    await this.flush();
    for (let start = from; start < until; ) {
      const since = start;
      const end = await this.#options.database.run((executor) => readSliceEnd(executor, since, until));
      yield* await this.#options.database.run((executor) => sumRequestsByMinute(executor, filter, since, end));
      start = end;
      await nextTurn();
    }
  }

  /** Returns the latest times to the first token of a time in milliseconds, at most 1000. */
  async firstTokenTimes(filter: RequestFilter, range: { from: number; until: number }): Promise<number[]> {
    const { database } = this.#options;
    const within = { ...filter, ...range };
    const times: number[] = [];
    let before: HistoryPosition | undefined;
    do {
      const position: HistoryPosition | undefined = before;
      const missing = MAX_FIRST_TOKEN_TIMES - times.length;
      times.push(...(await database.run((executor) => readFirstTokenTimes(executor, within, position, missing))));
      if (times.length === MAX_FIRST_TOKEN_TIMES) break;
      before = await database.run((executor) => readBound(executor, within, position));
      await nextTurn();
    } while (before !== undefined);
    return times;
  }

  async close(): Promise<void> {
    this.#poll.stop();
    await resultWithin(this.flush(), CLOSE_MS);
  }
}
