/** Sizes of stored content by project, read in pages of rows, since summing a large table would block SQLite. */

import type { Executor } from "./database.ts";

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
  const rows = await (table === "responseEvents"
    ? executor
        .selectFrom("responseEvents as content")
        .innerJoin("storedResponses as response", "response.id", "content.responseId")
        .select(["response.id", "response.projectId"])
        .select((select) => select.fn.sum<number | string>(select.fn("length", ["content.content"])).as("bytes"))
        .where("content.responseId", ">", after)
        .groupBy(["response.id", "response.projectId"])
        .orderBy("response.id")
        .limit(limit)
        .execute()
    : executor
        .selectFrom(`${table} as content`)
        .select(["content.id", "content.projectId"])
        .select((select) => select.fn<number | string>("length", ["content.content"]).as("bytes"))
        .where("content.id", ">", after)
        .orderBy("content.id")
        .limit(limit)
        .execute());
  return rows.map(({ id, projectId, bytes }) => ({ id, projectId, bytes: Number(bytes) }));
}
