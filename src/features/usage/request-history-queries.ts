/** Metadata of single requests, newest first. Never content. */

import { sql } from "kysely";
import { parseRequestDetails } from "../../http/request-details.ts";
import type { RequestEntry } from "../../http/request-entry.ts";
import { DAY_MS } from "../../kernel/durations.ts";
import type { Executor } from "../../storage/database.ts";
import { type Insertion, insert } from "../../storage/insert-rows.ts";
import { FAILED, matches, ofDimension, ofRow, type RequestFilter } from "./request-filter.ts";
import { REQUEST_COLUMNS, REQUEST_DIMENSION_COLUMNS, type RequestRows } from "./request-rows.ts";

/** Position in the history: requests of the same millisecond are ordered by id. */
export interface HistoryPosition {
  at: number;
  id: string;
}

export interface HistoryPage {
  entries: RequestEntry[];
  /** Where the next page begins; undefined at the end. */
  next: HistoryPosition | undefined;
}

/** Rows that one query reads at most: about 20 ms on SQLite, which blocks the event loop meanwhile. */
export const MAX_ROWS_READ = 10_000;

/** Columns of an entry. */
export const ENTRY = [
  "request.id",
  "request.at",
  "request.attempts",
  "request.queuedMilliseconds",
  "request.firstTokenMilliseconds",
  "request.durationMilliseconds",
  "request.promptTokens",
  "request.cachedTokens",
  "request.completionTokens",
  "request.characters",
  "request.audioMilliseconds",
  "request.costNanoDollars",
  "request.details",
  "dimension.organizationId",
  "dimension.projectId",
  "dimension.keyId",
  "dimension.operation",
  "dimension.model",
  "dimension.answeredBy",
  "dimension.deployment",
  "dimension.status",
  "dimension.outcome",
  "dimension.error",
] as const;

const DIMENSIONS: Insertion = {
  table: "requestDimensions",
  columns: REQUEST_DIMENSION_COLUMNS,
  onConflict: sql`on conflict (id) do update set last_day = excluded.last_day
    where request_dimensions.last_day < excluded.last_day`,
};

const REQUESTS: Insertion = { table: "requestHistory", columns: REQUEST_COLUMNS, onConflict: sql`` };

export async function insertRequests(transaction: Executor, { dimensions, values }: RequestRows): Promise<void> {
  // Every process inserts in the same order, which prevents deadlocks.
  const sorted = dimensions.toSorted((a, b) => a.id - b.id);
  const dimensionValues = sorted.flatMap((dimension) => REQUEST_DIMENSION_COLUMNS.map((column) => dimension[column]));
  await insert(transaction, DIMENSIONS, dimensionValues);
  await insert(transaction, REQUESTS, values);
}

/** Rows of a filter's organization and times before a position, newest first; its other conditions are `matches`. */
export function olderRequests(executor: Executor, filter: RequestFilter, before: HistoryPosition | undefined) {
  const ofOrganization = executor
    .selectFrom("requestDimensions")
    .select("id")
    .where("organizationId", "=", filter.organizationId);
  return executor
    .selectFrom("requestHistory")
    .where("dimensionId", "in", ofOrganization)
    .$if(filter.from !== undefined, (query) => query.where("at", ">=", filter.from ?? 0))
    .$if(filter.until !== undefined, (query) => query.where("at", "<", filter.until ?? 0))
    .$if(before !== undefined, (query) =>
      query.where("at", "<=", before?.at ?? 0).where(sql<boolean>`(at, id) < (${before?.at}, ${before?.id})`),
    )
    .orderBy("at", "desc")
    .orderBy("id", "desc");
}

/** The last row that one query reads before a position; undefined when it reads all. */
export function readBound(
  executor: Executor,
  filter: RequestFilter,
  before: HistoryPosition | undefined,
): Promise<HistoryPosition | undefined> {
  return olderRequests(executor, filter, before)
    .select(["at", "id"])
    .offset(MAX_ROWS_READ - 1)
    .limit(1)
    .executeTakeFirst();
}

/** Reads entries before a position. A page may be shorter than `limit` although older entries follow. */
export async function readRequests(
  executor: Executor,
  filter: RequestFilter,
  before: HistoryPosition | undefined,
  limit: number,
): Promise<HistoryPage> {
  const rows = await executor
    .selectFrom(olderRequests(executor, filter, before).selectAll().limit(MAX_ROWS_READ).as("request"))
    .innerJoin("requestDimensions as dimension", "dimension.id", "request.dimensionId")
    .select(ENTRY)
    .where(matches(filter))
    .orderBy("at", "desc")
    .orderBy("request.id", "desc")
    .limit(limit + 1)
    .execute();
  const entries = rows.slice(0, limit).map(toEntry);
  const last = entries.at(-1);
  if (rows.length > limit && last !== undefined) return { entries, next: { at: last.at, id: last.id } };
  return { entries, next: await readBound(executor, filter, before) };
}

/** Reads at most `limit` entries since a time, oldest first. */
export async function readRequestsSince(
  executor: Executor,
  filter: RequestFilter,
  since: number,
  limit: number,
): Promise<RequestEntry[]> {
  const rows = await executor
    .selectFrom("requestHistory as request")
    .innerJoin("requestDimensions as dimension", "dimension.id", "request.dimensionId")
    .select(ENTRY)
    .where("at", ">=", since)
    .where("organizationId", "=", filter.organizationId)
    .where(matches(filter))
    .orderBy("at")
    .orderBy("request.id")
    .limit(limit)
    .execute();
  return rows.map(toEntry);
}

export function toEntry<Row extends { details: string | null }>(row: Row) {
  return { ...row, details: parseRequestDetails(row.details) };
}

/** Finds the newest entry of an ID. */
export async function findRequest(
  executor: Executor,
  filter: RequestFilter,
  id: string,
): Promise<RequestEntry | undefined> {
  const row = await executor
    .selectFrom("requestHistory as request")
    .innerJoin("requestDimensions as dimension", "dimension.id", "request.dimensionId")
    .select(ENTRY)
    .where("request.id", "=", id)
    .where("organizationId", "=", filter.organizationId)
    .where(matches(filter))
    .orderBy("at", "desc")
    .limit(1)
    .executeTakeFirst();
  return row && toEntry(row);
}

/** Requests that one query sums: some 5 ms on SQLite. */
const MAX_ROWS_SUMMED = 5000;

/** Returns the end, at most `until`, of a time from `from` on with a few thousand requests. Reads the index only. */
export async function readSliceEnd(executor: Executor, from: number, until: number): Promise<number> {
  const last = await executor
    .selectFrom("requestHistory")
    .select("at")
    .where("at", ">=", from)
    .where("at", "<", until)
    .orderBy("at")
    .offset(MAX_ROWS_SUMMED - 1)
    .limit(1)
    .executeTakeFirst();
  return last === undefined ? until : last.at + 1;
}

export interface MinuteSum {
  /** Start of the minute, epoch milliseconds. */
  beginsAt: number;
  requests: number;
  errors: number;
  promptTokens: number;
  completionTokens: number;
  /** Attempts after the first one of a request. */
  retries: number;
}

/** Sums requests by minute; omits empty minutes. Subqueries, because a join would look up the dimension of each row. */
export async function sumRequestsByMinute(
  executor: Executor,
  filter: RequestFilter,
  from: number,
  until: number,
): Promise<MinuteSum[]> {
  const dimensions = sql`select id from ${sql.table("requestDimensions")}`;
  const { rows } = await sql<MinuteSum>`
    select
      (at / 60000) * 60000 as ${sql.ref("beginsAt")},
      count(*) as requests,
      cast(sum(case when ${sql.ref("dimensionId")} in (${dimensions} where ${FAILED} and status <> 499)
        then 1 else 0 end) as bigint) as errors,
      cast(coalesce(sum(${sql.ref("promptTokens")}), 0) as bigint) as ${sql.ref("promptTokens")},
      cast(coalesce(sum(${sql.ref("completionTokens")}), 0) as bigint) as ${sql.ref("completionTokens")},
      cast(coalesce(sum(case when attempts > 1 then attempts - 1 else 0 end), 0) as bigint) as retries
    from ${sql.table("requestHistory")}
    where at >= ${from} and at < ${until} and ${sql.ref("dimensionId")} in
      (${dimensions} where ${sql.ref("organizationId")} = ${filter.organizationId} and ${ofDimension(filter)})
      and ${ofRow(filter)}
    group by at / 60000
    order by at / 60000
  `.execute(executor);
  return rows;
}

/** Operations that generate tokens; the first result of others, such as embeddings, is not a first token. */
const GENERATING = [
  "chat/completions",
  "completions",
  "responses",
  "messages",
  "api/chat",
  "api/generate",
  "v1beta/models:generateContent",
  "v1beta/models:streamGenerateContent",
];

/** Reads times to the first token of the newest `MAX_ROWS_READ` requests before a position, latest first. */
export async function readFirstTokenTimes(
  executor: Executor,
  filter: RequestFilter,
  before: HistoryPosition | undefined,
  limit: number,
): Promise<number[]> {
  const rows = await executor
    .selectFrom(olderRequests(executor, filter, before).selectAll().limit(MAX_ROWS_READ).as("request"))
    .innerJoin("requestDimensions as dimension", "dimension.id", "request.dimensionId")
    .select("firstTokenMilliseconds")
    .where("firstTokenMilliseconds", "is not", null)
    .where("operation", "in", GENERATING)
    .where(matches(filter))
    .orderBy("at", "desc")
    .limit(limit)
    .execute();
  return rows.flatMap(({ firstTokenMilliseconds }) => firstTokenMilliseconds ?? []);
}

/** Removes at most `max` entries from before `time` and returns their number. */
export async function removeRequestsBefore(executor: Executor, time: number, max: number): Promise<number> {
  const { last } = await executor
    .selectFrom((from) =>
      from.selectFrom("requestHistory").select("at").where("at", "<", time).orderBy("at").limit(max).as("oldest"),
    )
    .select((select) => select.fn.max("at").as("last"))
    .executeTakeFirstOrThrow();
  if (last === null) return 0;
  const removed = await executor.deleteFrom("requestHistory").where("at", "<=", last).executeTakeFirst();
  return Number(removed.numDeletedRows);
}

/**
 * Removes at most `max` dimensions that no entry since `time` has, and returns their number. Entries are up to a day
 * younger than their dimension's last day when a batch was begun before midnight.
 */
export async function removeRequestDimensionsBefore(executor: Executor, time: number, max: number): Promise<number> {
  const unused = executor
    .selectFrom("requestDimensions")
    .select("id")
    .where("lastDay", "<", time - DAY_MS)
    .limit(max);
  const removed = await executor.deleteFrom("requestDimensions").where("id", "in", unused).executeTakeFirst();
  return Number(removed.numDeletedRows);
}
