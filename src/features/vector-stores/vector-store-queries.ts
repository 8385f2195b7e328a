/** Vector stores, always found through their project. */

import { sql, type Updateable } from "kysely";
import { DAY_MS } from "../../kernel/durations.ts";
import type { Database, Executor } from "../../storage/database.ts";
import { type Page, type PageRequest, readPage } from "../../storage/page.ts";
import type { ProjectResource } from "../../storage/project-resource.ts";
import type { ShownCounts } from "../../wire/openai/vector-stores.ts";
import type { VectorStoreRow } from "./vector-store-rows.ts";

export async function insertVectorStore(executor: Executor, row: VectorStoreRow): Promise<void> {
  await executor.insertInto("vectorStores").values(row).execute();
}

export async function findVectorStore(
  executor: Executor,
  { projectId, id }: ProjectResource,
): Promise<VectorStoreRow | undefined> {
  return ofProject(executor, projectId).where("id", "=", id).executeTakeFirst();
}

export async function listVectorStores(
  executor: Executor,
  request: PageRequest & { projectId: string },
): Promise<Page<VectorStoreRow>> {
  return readPage(request, "createdAt", ofProject(executor, request.projectId));
}

export async function updateVectorStore(
  executor: Executor,
  { projectId, id }: ProjectResource,
  change: Updateable<VectorStoreRow>,
): Promise<void> {
  const update = executor.updateTable("vectorStores").set(change).where("id", "=", id);
  await update.where("projectId", "=", projectId).where("deletedAt", "is", null).execute();
}

/** Counts the days to the expiry, which may have changed meanwhile, from `now` on, in epoch milliseconds. */
export async function postponeExpiry(
  executor: Executor,
  { projectId, id }: ProjectResource,
  now: number,
): Promise<void> {
  const expiresAt = sql<number | null>`${now} + cast(expires_after_days as bigint) * ${sql.lit(DAY_MS)}`;
  const update = executor.updateTable("vectorStores").set({ lastActiveAt: now, expiresAt }).where("id", "=", id);
  await update.where("projectId", "=", projectId).where("deletedAt", "is", null).execute();
}

/** Tells replicas that what a search can find has changed. */
export async function increaseVersion(executor: Executor, id: string): Promise<void> {
  const update = executor.updateTable("vectorStores").set(({ eb }) => ({ version: eb("version", "+", 1) }));
  await update.where("id", "=", id).execute();
}

/** Sets the length of the vectors unless it is set. Returns the length in force. */
export async function ensureDimensions(executor: Executor, id: string, dimensions: number): Promise<number> {
  const stores = executor.updateTable("vectorStores").where("id", "=", id);
  await stores.set({ dimensions }).where("dimensions", "is", null).execute();
  const row = await executor.selectFrom("vectorStores").select("dimensions").where("id", "=", id).executeTakeFirst();
  return row?.dimensions ?? dimensions;
}

/** Files and bytes of stores, by their ID; a store without files is missing. */
export async function readTotals(executor: Executor, ids: readonly string[]): Promise<Map<string, StoreTotals>> {
  const totals = new Map<string, StoreTotals>();
  if (ids.length === 0) return totals;
  const rows = await executor
    .selectFrom("vectorStoreFiles")
    .select(["vectorStoreId", "status"])
    .select(({ fn }) => [fn.countAll<number | string>().as("files"), fn.sum<number | string>("usageBytes").as("bytes")])
    .where("vectorStoreId", "in", ids)
    .groupBy(["vectorStoreId", "status"])
    .execute();
  for (const { vectorStoreId, status, files, bytes } of rows) {
    const total = totals.get(vectorStoreId) ?? emptyTotals();
    // PostgreSQL returns counts and sums as text.
    total.counts[status] = Number(files);
    total.usageBytes += Number(bytes);
    totals.set(vectorStoreId, total);
  }
  return totals;
}

export interface StoreTotals {
  counts: ShownCounts;
  usageBytes: number;
}

export function emptyTotals(): StoreTotals {
  return { counts: { in_progress: 0, completed: 0, failed: 0, cancelled: 0 }, usageBytes: 0 };
}

/** Sums the chunks and bytes of a project's stores. */
export async function sumOfProject(executor: Executor, projectId: string): Promise<{ chunks: number; bytes: number }> {
  const row = await executor
    .selectFrom("vectorStoreFiles")
    .select(({ fn }) => [
      fn.sum<number | string>("chunks").as("chunks"),
      fn.sum<number | string>("usageBytes").as("bytes"),
    ])
    .where("projectId", "=", projectId)
    .executeTakeFirst();
  return { chunks: Number(row?.chunks ?? 0), bytes: Number(row?.bytes ?? 0) };
}

/** Marks stores whose project is archived as deleted, and those that expired before `expiredBefore`. */
export async function markRemovable(executor: Executor, now: number, expiredBefore: number): Promise<number> {
  const archived = executor.selectFrom("projects").select("id").where("archivedAt", "is not", null);
  const result = await executor
    .updateTable("vectorStores")
    .set({ deletedAt: now })
    .where("deletedAt", "is", null)
    .where(({ eb, or }) => or([eb("expiresAt", "<", expiredBefore), eb("projectId", "in", archived)]))
    .executeTakeFirst();
  return Number(result.numUpdatedRows);
}

/**
 * Removes the files of a deleted store, without which nothing adds a segment any more, up to `max` segments and, without
 * any left, the store. Returns how much was removed.
 */
export async function removeDeleted(executor: Executor, max: number): Promise<number> {
  const store = await executor
    .selectFrom("vectorStores")
    .select("id")
    .where("deletedAt", "is not", null)
    .limit(1)
    .executeTakeFirst();
  if (store === undefined) return 0;
  await executor.deleteFrom("vectorStoreFiles").where("vectorStoreId", "=", store.id).execute();
  const segments = await removeSegments(executor, "vectorStoreId", store.id, max);
  if (segments > 0) return segments;
  await executor.deleteFrom("vectorStoreBatches").where("vectorStoreId", "=", store.id).execute();
  await executor.deleteFrom("vectorStores").where("id", "=", store.id).execute();
  return 1;
}

const SEGMENTS_AT_ONCE = 200;

/** Removes the content of an addition, in steps between which others use the database. */
export async function removeContent(database: Database, additionId: string): Promise<void> {
  for (let removed = 1; removed > 0; ) {
    removed = await database.run((executor) => removeSegments(executor, "additionId", additionId, SEGMENTS_AT_ONCE));
  }
}

/** Removes up to `max` segments of a store or of an addition. */
async function removeSegments(
  executor: Executor,
  column: "vectorStoreId" | "additionId",
  id: string,
  max: number,
): Promise<number> {
  const some = executor
    .selectFrom("vectorStoreSegments")
    .select(["additionId", "position"])
    .where(column, "=", id)
    .limit(max);
  const rows = await some.execute();
  const [first] = rows;
  if (first === undefined) return 0;
  const positions = rows.filter(({ additionId }) => additionId === first.additionId).map(({ position }) => position);
  await executor
    .deleteFrom("vectorStoreSegments")
    .where("additionId", "=", first.additionId)
    .where("position", "in", positions)
    .execute();
  return positions.length;
}

function ofProject(executor: Executor, projectId: string) {
  const stores = executor.selectFrom("vectorStores").selectAll().where("projectId", "=", projectId);
  return stores.where("deletedAt", "is", null);
}
