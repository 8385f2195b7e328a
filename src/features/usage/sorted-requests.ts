/** Requests of the history by a measure instead of by time, without an index: each would cost a third of an insertion. */

import { setImmediate as nextTurn } from "node:timers/promises";
import { type RawBuilder, sql } from "kysely";
import type { RequestEntry } from "../../http/request-entry.ts";
import { invalidRequest } from "../../kernel/faults.ts";
import type { Database, Executor } from "../../storage/database.ts";
import { matches, type RequestFilter } from "./request-filter.ts";
import {
  ENTRY,
  type HistoryPosition,
  MAX_ROWS_READ,
  olderRequests,
  readBound,
  toEntry,
} from "./request-history-queries.ts";

type RequestMeasure = "first_token_ms" | "duration_ms" | "total_tokens" | "cost_usd";

export interface RequestOrder {
  measure: RequestMeasure;
  /** Largest first. Requests without the measure are last in both orders, and equal ones are newest first. */
  isDescending: boolean;
}

/** Position in a sorted list: the measure, and the place in time among equal ones. */
export interface SortedPosition extends HistoryPosition {
  rank: number;
}

export interface SortedPage {
  entries: RequestEntry[];
  /** Where the next page begins; undefined at the end. */
  next: SortedPosition | undefined;
}

type RankedEntry = RequestEntry & { rank: number };

/** Queries of one page, of `MAX_ROWS_READ` rows each: some 2 s on SQLite, between which other requests have their turn. */
const MAX_QUERIES = 100;

const COLUMNS: Readonly<Record<RequestMeasure, RawBuilder<unknown>>> = {
  first_token_ms: sql`request.first_token_milliseconds`,
  duration_ms: sql`request.duration_milliseconds`,
  total_tokens: sql`request.prompt_tokens + coalesce(request.completion_tokens, 0)`,
  cost_usd: sql`request.cost_nano_dollars`,
};

/** Reads a page of the sorted list. Throws a Fault for a time range with more requests than one page may read. */
export async function readSortedRequests(
  database: Database,
  filter: RequestFilter,
  order: RequestOrder,
  after: SortedPosition | undefined,
  limit: number,
  signal: AbortSignal,
): Promise<SortedPage> {
  const compare = (a: RankedEntry, b: RankedEntry) =>
    (order.isDescending ? b.rank - a.rank : a.rank - b.rank) || b.at - a.at || (a.id < b.id ? 1 : -1);
  let first: RankedEntry[] = [];
  let before: HistoryPosition | undefined;
  for (let queries = 0; !signal.aborted; queries += 1) {
    if (queries === MAX_QUERIES) throw tooManyRequests();
    const from: HistoryPosition | undefined = before;
    const { entries, next } = await database.run(async (executor) => ({
      entries: await readSlice(executor, filter, order, { before: from, after, limit: limit + 1 }),
      next: await readBound(executor, filter, from),
    }));
    first = [...first, ...entries].sort(compare).slice(0, limit + 1);
    if (next === undefined) break;
    before = next;
    await nextTurn();
  }
  const page = first.slice(0, limit);
  const last = page.at(-1);
  const entries = page.map(({ rank: _rank, ...entry }) => entry);
  const next = first.length > limit && last !== undefined ? { rank: last.rank, at: last.at, id: last.id } : undefined;
  return { entries, next };
}

interface Slice {
  before: HistoryPosition | undefined;
  after: SortedPosition | undefined;
  limit: number;
}

/** The first entries after a position of the sorted list, among the newest `MAX_ROWS_READ` before a time. */
async function readSlice(
  executor: Executor,
  filter: RequestFilter,
  { measure, isDescending }: RequestOrder,
  { before, after, limit }: Slice,
): Promise<RankedEntry[]> {
  const missing = isDescending ? -1 : Number.MAX_SAFE_INTEGER;
  const rank = sql<number>`cast(coalesce(${COLUMNS[measure]}, ${sql.lit(missing)}) as bigint)`;
  const isBeyond = isDescending ? sql`<` : sql`>`;
  const rows = await executor
    .selectFrom(olderRequests(executor, filter, before).selectAll().limit(MAX_ROWS_READ).as("request"))
    .innerJoin("requestDimensions as dimension", "dimension.id", "request.dimensionId")
    .select([...ENTRY, rank.as("rank")])
    .where(matches(filter))
    .$if(after !== undefined, (query) =>
      query.where(
        sql<boolean>`(${rank} ${isBeyond} ${after?.rank}
          or (${rank} = ${after?.rank} and (request.at, request.id) < (${after?.at}, ${after?.id})))`,
      ),
    )
    .orderBy(sql`rank`, isDescending ? "desc" : "asc")
    .orderBy("at", "desc")
    .orderBy("request.id", "desc")
    .limit(limit)
    .execute();
  return rows.map(toEntry);
}

function tooManyRequests() {
  const max = (MAX_QUERIES * MAX_ROWS_READ).toLocaleString("en");
  const message = `The time range has more than ${max} requests, which is the most that can be sorted. Send a later 'start_time'.`;
  return invalidRequest(message, "start_time", "range_too_large");
}
