/** Writes what was used: each request, and the sums of its hour and its day in the same transaction. */

import { createHash } from "node:crypto";
import { CompiledQuery, sql } from "kysely";
import type { Executor } from "./database.ts";
import type { UsageAmounts, UsageDimensionRow, UsageRecordRow, UsageRollupRow } from "./schema.ts";

type UsageDimension = Omit<UsageDimensionRow, "id">;
export type UsageRecord = UsageDimension & Omit<UsageRecordRow, "dimensionId">;

export interface UsageBatch {
  /** Which process wrote it; its batches are numbered from 1 and written in order. */
  writer: string;
  number: number;
  records: readonly UsageRecord[];
}

const ROLLUP_SECONDS = [3600, 86_400];
/** Statements have a bounded number of parameters. */
const ROWS_PER_STATEMENT = 400;

/** Within a transaction. A batch that was written before changes nothing. */
export async function writeUsage(transaction: Executor, batches: readonly UsageBatch[], now: number): Promise<void> {
  const records: UsageRecord[] = [];
  for (const batch of batches) {
    if (await claimBatch(transaction, batch, now)) records.push(...batch.records);
  }
  const dimensions = new Map<string, UsageDimensionRow>();
  const rows = records.map(({ organizationId, projectId, keyId, model, deployment, operation, ...row }) => {
    const dimension = { organizationId, projectId, keyId, model, deployment, operation };
    const json = JSON.stringify(Object.values(dimension));
    let known = dimensions.get(json);
    if (known === undefined) {
      known = { id: dimensionIdOf(json), ...dimension };
      dimensions.set(json, known);
    }
    return { dimensionId: known.id, ...row };
  });
  // In one order in every process, so that two of them cannot wait for each other.
  const sorted = [...dimensions.values()].sort((a, b) => a.id - b.id);
  for (const chunk of chunks(sorted)) {
    const insert = transaction.insertInto("usageDimensions").values(chunk);
    await insert.onConflict((conflict) => conflict.column("id").doNothing()).execute();
  }
  await insertRecords(transaction, rows);
  for (const chunk of chunks(rollUp(rows))) await addRollups(transaction, chunk);
}

/** Of few lengths, so that their statements are made once. */
const ROWS_OF_STATEMENTS = [256, 64, 16, 4, 1];
/** All but the cost, which may be unknown. */
export const AMOUNTS = [
  "promptTokens",
  "cachedTokens",
  "completionTokens",
  "reasoningTokens",
  "characters",
  "audioMilliseconds",
] as const satisfies (keyof UsageAmounts)[];

const RECORD_COLUMNS = [
  "at",
  "dimensionId",
  ...AMOUNTS,
  "durationMilliseconds",
  "costNanoDollars",
  "outcome",
] as const satisfies (keyof UsageRecordRow)[];

async function insertRecords(executor: Executor, rows: readonly UsageRecordRow[]): Promise<void> {
  let start = 0;
  for (const count of ROWS_OF_STATEMENTS) {
    for (; rows.length - start >= count; start += count) {
      await executor.executeQuery(insertOf(executor, rows.slice(start, start + count)));
    }
  }
}

/** By the database's adapter, of which there is one for each open database, and the number of rows. */
const statements = new WeakMap<object, Map<number, string>>();

function insertOf(executor: Executor, rows: readonly UsageRecordRow[]): CompiledQuery {
  const { adapter } = executor.getExecutor();
  const known = statements.get(adapter) ?? new Map<number, string>();
  statements.set(adapter, known);
  let text = known.get(rows.length);
  if (text === undefined) {
    const inOrder = rows.map((row) => Object.fromEntries(RECORD_COLUMNS.map((column) => [column, row[column]])));
    const insert = executor.insertInto("usageRecords").values(inOrder as unknown as UsageRecordRow[]);
    text = insert.compile().sql;
    known.set(rows.length, text);
  }
  const parameters: unknown[] = [];
  for (const row of rows) for (const column of RECORD_COLUMNS) parameters.push(row[column]);
  return CompiledQuery.raw(text, parameters);
}

/** Removes at most `most` records from before `time`, and returns how many went. */
export async function removeUsageBefore(executor: Executor, time: number, most: number): Promise<number> {
  const { last } = await executor
    .selectFrom((from) =>
      from.selectFrom("usageRecords").select("at").where("at", "<", time).orderBy("at").limit(most).as("oldest"),
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

/** False when it was written before. */
async function claimBatch(transaction: Executor, { writer, number }: UsageBatch, now: number): Promise<boolean> {
  const claimed = await transaction
    .insertInto("usageWriters")
    .values({ id: writer, lastBatch: number, writtenAt: now })
    .onConflict((conflict) =>
      conflict
        .column("id")
        .doUpdateSet({ lastBatch: number, writtenAt: now })
        .where("usageWriters.lastBatch", "<", number),
    )
    .returning("lastBatch")
    .executeTakeFirst();
  return claimed !== undefined;
}

function dimensionIdOf(json: string): number {
  const hash = createHash("sha256").update(json).digest();
  return Number(hash.readBigUInt64BE() >> 11n);
}

function rollUp(rows: readonly UsageRecordRow[]): UsageRollupRow[] {
  const rollups = new Map<string, UsageRollupRow>();
  for (const row of rows) {
    for (const bucketSeconds of ROLLUP_SECONDS) {
      const width = bucketSeconds * 1000;
      const beginsAt = Math.floor(row.at / width) * width;
      const id = `${bucketSeconds} ${beginsAt} ${row.dimensionId}`;
      let rollup = rollups.get(id);
      if (rollup === undefined) {
        rollup = { bucketSeconds, beginsAt, dimensionId: row.dimensionId, ...NOTHING };
        rollups.set(id, rollup);
      }
      rollup.requests += 1;
      for (const amount of AMOUNTS) rollup[amount] += row[amount];
      if (row.costNanoDollars !== null) rollup.costNanoDollars = (rollup.costNanoDollars ?? 0) + row.costNanoDollars;
    }
  }
  const order = (row: UsageRollupRow) => [row.bucketSeconds, row.beginsAt, row.dimensionId];
  return [...rollups.values()].sort((a, b) => compare(order(a), order(b)));
}

const NOTHING: UsageAmounts & { requests: number } = {
  requests: 0,
  promptTokens: 0,
  cachedTokens: 0,
  completionTokens: 0,
  reasoningTokens: 0,
  characters: 0,
  audioMilliseconds: 0,
  costNanoDollars: null,
};

async function addRollups(transaction: Executor, rows: UsageRollupRow[]): Promise<void> {
  const added = (name: string) => sql<number>`usage_rollups.${sql.ref(name)} + excluded.${sql.ref(name)}`;
  await transaction
    .insertInto("usageRollups")
    .values(rows)
    .onConflict((conflict) =>
      conflict.columns(["bucketSeconds", "beginsAt", "dimensionId"]).doUpdateSet({
        ...Object.fromEntries(["requests", ...AMOUNTS].map((name) => [name, added(name)])),
        costNanoDollars: sql<number>`coalesce(usage_rollups.cost_nano_dollars + excluded.cost_nano_dollars, usage_rollups.cost_nano_dollars, excluded.cost_nano_dollars)`,
      }),
    )
    .execute();
}

function compare(a: readonly number[], b: readonly number[]): number {
  const differing = a.findIndex((each, index) => each !== b[index]);
  return differing === -1 ? 0 : (a[differing] ?? 0) - (b[differing] ?? 0);
}

function* chunks<Row>(rows: readonly Row[]): Generator<Row[]> {
  for (let start = 0; start < rows.length; start += ROWS_PER_STATEMENT) {
    yield rows.slice(start, start + ROWS_PER_STATEMENT);
  }
}
