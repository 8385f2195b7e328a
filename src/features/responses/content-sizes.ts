/** Sizes of stored content by project, read in pages of rows, since summing a large table would block SQLite. */

import { sql } from "kysely";
import type { Executor } from "../../storage/database.ts";
import type { ContentSize, ReadSizes } from "../../storage/stored-bytes.ts";

const TABLES = ["storedResponses", "conversations", "responseItems"] as const;

/** The events are read by response. */
export const RESPONSE_SIZES: readonly ReadSizes[] = [
  ...TABLES.map(
    (table): ReadSizes =>
      (executor, after, limit) =>
        readRowSizes(executor, table, after, limit),
  ),
  readEventSizes,
];

async function readRowSizes(
  executor: Executor,
  table: (typeof TABLES)[number],
  after: string,
  limit: number,
): Promise<readonly ContentSize[]> {
  const { rows } = await sql<ContentSize>`
    select id, ${sql.ref("projectId")}, length(content) as bytes
    from ${sql.table(table)}
    where id > ${after}
    order by id
    limit ${limit}
  `.execute(executor);
  return rows;
}

async function readEventSizes(executor: Executor, after: string, limit: number): Promise<readonly ContentSize[]> {
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
