/** Sizes of stored content by project, read in pages of rows, since summing a large table would block SQLite. */

import { sql } from "kysely";
import type { Executor } from "../../storage/database.ts";

export interface ContentSize {
  id: string;
  projectId: string;
  bytes: number;
}

export const CONTENT_TABLES = ["storedResponses", "conversations", "responseItems", "responseEvents"] as const;
type ContentTable = (typeof CONTENT_TABLES)[number];

/** Reads at most `limit` rows, or the events of so many responses, after an id in the order of ids. */
export async function readContentSizes(
  executor: Executor,
  table: ContentTable,
  after: string,
  limit: number,
): Promise<ContentSize[]> {
  const rows =
    table === "responseEvents"
      ? await readEventSizes(executor, after, limit)
      : await readRowSizes(executor, table, after, limit);
  return rows.map(({ id, projectId, bytes }) => ({ id, projectId, bytes: Number(bytes) }));
}

interface SizeRow {
  id: string;
  projectId: string;
  /** PostgreSQL returns sums as text. */
  bytes: number | string;
}

async function readRowSizes(
  executor: Executor,
  table: Exclude<ContentTable, "responseEvents">,
  after: string,
  limit: number,
): Promise<readonly SizeRow[]> {
  const { rows } = await sql<SizeRow>`
    select id, ${sql.ref("projectId")}, length(content) as bytes
    from ${sql.table(table)}
    where id > ${after}
    order by id
    limit ${limit}
  `.execute(executor);
  return rows;
}

async function readEventSizes(executor: Executor, after: string, limit: number): Promise<readonly SizeRow[]> {
  return executor
    .selectFrom("responseEvents as events")
    .innerJoin("storedResponses as response", "response.id", "events.responseId")
    .select(["response.id", "response.projectId"])
    .select((select) => select.fn.sum<number | string>(select.fn("length", ["events.content"])).as("bytes"))
    .where("events.responseId", ">", after)
    .groupBy(["response.id", "response.projectId"])
    .orderBy("response.id")
    .limit(limit)
    .execute();
}
