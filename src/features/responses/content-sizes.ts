/** Sizes of stored content by project, read in pages of rows, since summing a large table would block SQLite. */

import type { Executor } from "../../storage/database.ts";
import { type ContentSize, type ReadSizes, sizesOf } from "../../storage/stored-bytes.ts";

/** The events are read by response. */
export const RESPONSE_SIZES: readonly ReadSizes[] = [
  sizesOf("storedResponses", "content"),
  sizesOf("conversations", "content"),
  sizesOf("responseItems", "content"),
  readEventSizes,
];

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
