/** Adds usage to the sums of its minutes, hours and days. */

import { type RawBuilder, sql } from "kysely";
import { HOUR_SECONDS, MINUTE_SECONDS } from "../../kernel/durations.ts";
import type { Executor } from "../../storage/database.ts";
import { type Insertion, insert, run } from "../../storage/insert-rows.ts";
import { AMOUNTS, COSTS, DIMENSION_COLUMNS, type UsageBatch } from "./usage-batch.ts";
import { LABEL_ROLLUP_COLUMNS, ROLLUP_COLUMNS, rollUp, rollUpLabels } from "./usage-rollup.ts";
import type { UsageDimensionRow, UsageLabelRow } from "./usage-rows.ts";

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
    ${added("usageRollups")}`,
};

const LABEL_COLUMNS = ["id", "organizationId", "projectId", "kind", "value"] as const;

const LABELS: Insertion = {
  table: "usageLabels",
  columns: LABEL_COLUMNS,
  onConflict: sql`on conflict (id) do nothing`,
};

const LABEL_ROLLUPS: Insertion = {
  table: "usageLabelRollups",
  columns: LABEL_ROLLUP_COLUMNS,
  onConflict: sql`on conflict (bucket_seconds, begins_at, label_id, dimension_id) do update set
    ${added("usageLabelRollups")}`,
};

function added(table: string): RawBuilder<unknown> {
  return sql.join([...AMOUNTS, ...COSTS, "requests"].map((column) => addedColumn(table, column)));
}

/** Adds amounts; an unknown one does not change a known one. */
function addedColumn(table: string, column: string): RawBuilder<unknown> {
  const [name, old, more] = [sql.ref(column), sql.ref(`${table}.${column}`), sql.ref(`excluded.${column}`)];
  return sql`${name} = coalesce(${old} + ${more}, ${old}, ${more})`;
}

/** Number of the last batch of a writer. */
export async function readLastBatch(executor: Executor, writer: string): Promise<number | undefined> {
  const row = await executor.selectFrom("usageWriters").select("lastBatch").where("id", "=", writer).executeTakeFirst();
  return row?.lastBatch;
}

/** Writes within a transaction. Skips batches that were written before. Returns the number of those that were not. */
export async function writeUsage(transaction: Executor, batches: readonly UsageBatch[], now: number): Promise<number> {
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
  await writeLabels(transaction, claimed);
  return claimed.length;
}

async function writeLabels(transaction: Executor, batches: readonly UsageBatch[]): Promise<void> {
  const labels = new Map<number, UsageLabelRow>();
  for (const batch of batches) for (const label of batch.labels ?? []) labels.set(label.id, label);
  if (labels.size === 0) return;
  const sorted = [...labels.values()].sort((a, b) => a.id - b.id);
  const labelValues = sorted.flatMap((label) => LABEL_COLUMNS.map((column) => label[column]));
  await insert(transaction, LABELS, labelValues);
  await insert(transaction, LABEL_ROLLUPS, rollUpLabels(batches).flat());
}

/** Removes sums by label of hours from before `time`, those of the oldest `max` rows, and returns their number. */
export function removeLabelHoursBefore(executor: Executor, time: number, max: number): Promise<number> {
  return removeSumsBefore(executor, { table: "usageLabelRollups", bucketSeconds: HOUR_SECONDS, time, max });
}

/** Removes sums of minutes from before `time`, those of the oldest `max` rows, and returns their number. */
export function removeMinutesBefore(executor: Executor, time: number, max: number): Promise<number> {
  return removeSumsBefore(executor, { table: "usageRollups", bucketSeconds: MINUTE_SECONDS, time, max });
}

interface RemovedSums {
  table: "usageRollups" | "usageLabelRollups";
  bucketSeconds: number;
  time: number;
  max: number;
}

async function removeSumsBefore(executor: Executor, { table, bucketSeconds, time, max }: RemovedSums): Promise<number> {
  const { last } = await executor
    .selectFrom((from) =>
      from
        .selectFrom(table)
        .select("beginsAt")
        .where("bucketSeconds", "=", bucketSeconds)
        .where("beginsAt", "<", time)
        .orderBy("beginsAt")
        .limit(max)
        .as("oldest"),
    )
    .select((select) => select.fn.max("beginsAt").as("last"))
    .executeTakeFirstOrThrow();
  if (last === null) return 0;
  const sums = executor.deleteFrom(table).where("bucketSeconds", "=", bucketSeconds).where("beginsAt", "<=", last);
  return Number((await sums.executeTakeFirst()).numDeletedRows);
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
