/** Sizes of what evals store by project, read in pages of rows, since summing a large table would block SQLite. */

import { sql } from "kysely";
import type { Executor } from "../../storage/database.ts";
import { type ContentSize, type ReadSizes, sizesOf } from "../../storage/stored-bytes.ts";

export const EVAL_SIZES: readonly ReadSizes[] = [
  sizesOf("evals", "definition"),
  sizesOf("evalRuns", "source"),
  readItemSizes,
];

/** Items have no index of their IDs: a page begins after the position of one in its run. */
async function readItemSizes(executor: Executor, after: string, limit: number): Promise<readonly ContentSize[]> {
  const [runId = "", position = "-1"] = after.split(" ");
  const rows = await executor
    .selectFrom("evalItems as item")
    .innerJoin("evalRuns as run", "run.id", "item.runId")
    .select(["item.runId", "item.position", "run.projectId"])
    .select((select) => select.fn<number | string>("length", ["item.content"]).as("bytes"))
    .where(
      sql<boolean>`(${sql.ref("item.runId")}, ${sql.ref("item.position")}) > (${runId}, ${sql.lit(Number(position))})`,
    )
    .orderBy("item.runId")
    .orderBy("item.position")
    .limit(limit)
    .execute();
  return rows.map((row) => ({ id: `${row.runId} ${row.position}`, projectId: row.projectId, bytes: row.bytes }));
}
