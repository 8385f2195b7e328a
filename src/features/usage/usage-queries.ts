/** Adds usage to the sums of its minutes, hours and days. */

import { type RawBuilder, sql } from "kysely";
import { MINUTE_SECONDS } from "../../kernel/durations.ts";
import type { Executor } from "../../storage/database.ts";
import { type Insertion, insert, run } from "../../storage/insert-rows.ts";
import type { UsageDimensionRow } from "../../storage/schema.ts";
import { AMOUNTS, DIMENSION_COLUMNS, type UsageBatch } from "./usage-batch.ts";
import { ROLLUP_COLUMNS, rollUp } from "./usage-rollup.ts";

const WRITERS: Insertion = {
  table: "usageWriters",
  columns: ["id", "lastBatch", "writtenAt"],
  onConflict: sql`on conflict (id) do update set last_batch = excluded.last_batch, written_at = excluded.written_at
    where usage_writers.last_batch < excluded.last_batch returning last_batch`,
};

const DIMENSIONS: Insertion = {
  table: "usageDimensions",
  columns: DIMENSION_COLUMNS,
  onConflict: sql`on conflict (id) do nothing`,
};

const ROLLUPS: Insertion = {
  table: "usageRollups",
  columns: ROLLUP_COLUMNS,
  onConflict: sql`on conflict (bucket_seconds, begins_at, dimension_id) do update set
    ${sql.join([...AMOUNTS, "costNanoDollars", "requests"].map(added))}`,
};

/** Adds amounts; an unknown one does not change a known one. */
function added(column: string): RawBuilder<unknown> {
  const [name, old, more] = [sql.ref(column), sql.ref(`usageRollups.${column}`), sql.ref(`excluded.${column}`)];
  return sql`${name} = coalesce(${old} + ${more}, ${old}, ${more})`;
}

/** Writes within a transaction. Skips batches that were written before. */
export async function writeUsage(transaction: Executor, batches: readonly UsageBatch[], now: number): Promise<void> {
  const claimed: UsageBatch[] = [];
  const dimensions = new Map<number, UsageDimensionRow>();
  for (const batch of batches) {
    const { rows } = await run(transaction, WRITERS, 1, [batch.writer, batch.number, now]);
    if (rows.length === 0) continue;
    claimed.push(batch);
    for (const dimension of batch.dimensions) dimensions.set(dimension.id, dimension);
  }
  // Every process inserts in the same order, which prevents deadlocks.
  const sorted = [...dimensions.values()].sort((a, b) => a.id - b.id);
  const dimensionValues = sorted.flatMap((dimension) => DIMENSION_COLUMNS.map((column) => dimension[column]));
  await insert(transaction, DIMENSIONS, dimensionValues);
  await insert(transaction, ROLLUPS, rollUp(claimed).flat());
}

/** Removes sums of minutes from before `time`, those of the oldest `max` rows, and returns their number. */
export async function removeMinutesBefore(executor: Executor, time: number, max: number): Promise<number> {
  const { last } = await executor
    .selectFrom((from) =>
      from
        .selectFrom("usageRollups")
        .select("beginsAt")
        .where("bucketSeconds", "=", MINUTE_SECONDS)
        .where("beginsAt", "<", time)
        .orderBy("beginsAt")
        .limit(max)
        .as("oldest"),
    )
    .select((select) => select.fn.max("beginsAt").as("last"))
    .executeTakeFirstOrThrow();
  if (last === null) return 0;
  const removed = await executor
    .deleteFrom("usageRollups")
    .where("bucketSeconds", "=", MINUTE_SECONDS)
    .where("beginsAt", "<=", last)
    .executeTakeFirst();
  return Number(removed.numDeletedRows);
}

/** Removes single requests of earlier versions, at most about `max` from before `time`, and returns their number. */
export async function removeRecordsBefore(executor: Executor, time: number, max: number): Promise<number> {
  const { last } = await executor
    .selectFrom((from) =>
      from.selectFrom("usageRecords").select("at").where("at", "<", time).orderBy("at").limit(max).as("oldest"),
    )
    .select((select) => select.fn.max("at").as("last"))
    .executeTakeFirstOrThrow();
  if (last === null) return 0;
  const removed = await executor.deleteFrom("usageRecords").where("at", "<=", last).executeTakeFirst();
  return Number(removed.numDeletedRows);
}

export async function removeUsageWritersBefore(executor: Executor, time: number): Promise<void> {
  await executor.deleteFrom("usageWriters").where("writtenAt", "<", time).execute();
}
