/** Files of vector stores, and their segments. */

import type { Updateable } from "kysely";
import type { Executor } from "../../storage/database.ts";
import { type Page, type PageRequest, readPage } from "../../storage/page.ts";
import type { ShownCounts } from "../../wire/openai/vector-stores.ts";
import type {
  StoreFileStatus,
  VectorStoreBatchRow,
  VectorStoreFileRow,
  VectorStoreSegmentRow,
} from "./vector-store-rows.ts";

/** Inserts a file, or adds it again: its former content becomes unreachable. Returns the former addition. */
export async function putStoreFile(executor: Executor, row: VectorStoreFileRow): Promise<string | undefined> {
  const former = await findStoreFile(executor, row.vectorStoreId, row.id);
  const { vectorStoreId, id, ...change } = row;
  await executor
    .insertInto("vectorStoreFiles")
    .values(row)
    .onConflict((conflict) => conflict.columns(["vectorStoreId", "id"]).doUpdateSet(change))
    .execute();
  return former?.additionId;
}

export async function findStoreFile(
  executor: Executor,
  vectorStoreId: string,
  id: string,
): Promise<VectorStoreFileRow | undefined> {
  return ofStore(executor, vectorStoreId).where("id", "=", id).executeTakeFirst();
}

export interface StoreFilePage extends PageRequest {
  vectorStoreId: string;
  batchId?: string | undefined;
  status: StoreFileStatus | undefined;
}

export async function listStoreFiles(executor: Executor, request: StoreFilePage): Promise<Page<VectorStoreFileRow>> {
  const { vectorStoreId, batchId, status } = request;
  const all = ofStore(executor, vectorStoreId);
  const scope = batchId === undefined ? all : all.where("batchId", "=", batchId);
  return readPage(request, "createdAt", scope, status === undefined ? scope : scope.where("status", "=", status));
}

/** Files that a search can find, with what their index depends on. */
export async function listCompletedFiles(
  executor: Executor,
  vectorStoreId: string,
): Promise<Pick<VectorStoreFileRow, "additionId" | "attributes">[]> {
  const files = executor.selectFrom("vectorStoreFiles").select(["additionId", "attributes"]);
  return files.where("vectorStoreId", "=", vectorStoreId).where("status", "=", "completed").execute();
}

export async function findAdditions(
  executor: Executor,
  vectorStoreId: string,
  additionIds: readonly string[],
): Promise<VectorStoreFileRow[]> {
  if (additionIds.length === 0) return [];
  return ofStore(executor, vectorStoreId).where("additionId", "in", additionIds).execute();
}

export async function updateStoreFile(
  executor: Executor,
  vectorStoreId: string,
  id: string,
  change: Updateable<VectorStoreFileRow>,
): Promise<void> {
  const update = executor.updateTable("vectorStoreFiles").set(change).where("vectorStoreId", "=", vectorStoreId);
  await update.where("id", "=", id).execute();
}

/** Stores from which a file was removed. */
export async function deleteStoreFiles(
  executor: Executor,
  { projectId, id }: { projectId: string; id: string },
): Promise<VectorStoreFileRow[]> {
  const deletion = executor.deleteFrom("vectorStoreFiles").where("id", "=", id).where("projectId", "=", projectId);
  return deletion.returningAll().execute();
}

export async function deleteStoreFile(executor: Executor, vectorStoreId: string, id: string): Promise<void> {
  const deletion = executor.deleteFrom("vectorStoreFiles").where("vectorStoreId", "=", vectorStoreId);
  await deletion.where("id", "=", id).execute();
}

export async function insertBatch(executor: Executor, row: VectorStoreBatchRow): Promise<void> {
  await executor.insertInto("vectorStoreBatches").values(row).execute();
}

export async function findBatch(
  executor: Executor,
  vectorStoreId: string,
  id: string,
): Promise<VectorStoreBatchRow | undefined> {
  const batches = executor.selectFrom("vectorStoreBatches").selectAll().where("id", "=", id);
  return batches.where("vectorStoreId", "=", vectorStoreId).executeTakeFirst();
}

/** Ends the files of a batch that are in progress; a batch without any stays as it is. */
export async function cancelBatch(executor: Executor, id: string, now: number): Promise<void> {
  const files = executor.updateTable("vectorStoreFiles").set({ status: "cancelled", runId: null });
  const open = files.where("batchId", "=", id).where("status", "=", "in_progress");
  if ((await open.executeTakeFirst()).numUpdatedRows === 0n) return;
  await executor.updateTable("vectorStoreBatches").set({ cancelledAt: now }).where("id", "=", id).execute();
}

export async function countBatchFiles(executor: Executor, batchId: string): Promise<ShownCounts> {
  const counts: ShownCounts = { in_progress: 0, completed: 0, failed: 0, cancelled: 0 };
  const rows = await executor
    .selectFrom("vectorStoreFiles")
    .select(({ fn }) => ["status", fn.countAll<number | string>().as("files")])
    .where("batchId", "=", batchId)
    .groupBy("status")
    .execute();
  for (const { status, files } of rows) counts[status] = Number(files);
  return counts;
}

// ---- runs

export type ClaimedFile = VectorStoreFileRow & { runId: string };

/** Changes a file in progress, for its run. Returns false when it has ended or has another run. */
export async function updateOwnedFile(
  executor: Executor,
  { additionId, runId }: Pick<ClaimedFile, "additionId" | "runId">,
  change: Updateable<Omit<VectorStoreFileRow, "dueAt">>,
): Promise<boolean> {
  const stores = executor.selectFrom("vectorStores").select("id").where("deletedAt", "is", null);
  const result = await executor
    .updateTable("vectorStoreFiles")
    .set(change)
    .where("additionId", "=", additionId)
    .where("runId", "=", runId)
    .where("status", "=", "in_progress")
    .where("vectorStoreId", "in", stores)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

// ---- segments

export async function insertSegment(executor: Executor, row: VectorStoreSegmentRow): Promise<void> {
  await executor.insertInto("vectorStoreSegments").values(row).execute();
}

/** Number of segments of an addition that are stored, and their chunks. */
export async function countSegments(
  executor: Executor,
  additionId: string,
): Promise<{ segments: number; chunks: number }> {
  const row = await executor
    .selectFrom("vectorStoreSegments")
    .select(({ fn }) => [fn.countAll<number | string>().as("segments"), fn.sum<number | string>("chunks").as("chunks")])
    .where("additionId", "=", additionId)
    .executeTakeFirst();
  return { segments: Number(row?.segments ?? 0), chunks: Number(row?.chunks ?? 0) };
}

/** Vectors of an addition from a position on, at most `max` segments. */
export async function readVectors(
  executor: Executor,
  additionId: string,
  from: number,
  max: number,
): Promise<Pick<VectorStoreSegmentRow, "position" | "vectors">[]> {
  const segments = executor.selectFrom("vectorStoreSegments").select(["position", "vectors"]);
  const rest = segments.where("additionId", "=", additionId).where("position", ">=", from);
  return rest.orderBy("position").limit(max).execute();
}

/** Texts of segments of an addition. */
export async function readTexts(
  executor: Executor,
  additionId: string,
  positions: readonly number[],
): Promise<Pick<VectorStoreSegmentRow, "position" | "texts">[]> {
  const segments = executor.selectFrom("vectorStoreSegments").select(["position", "texts"]);
  return segments.where("additionId", "=", additionId).where("position", "in", positions).execute();
}

function ofStore(executor: Executor, vectorStoreId: string) {
  return executor.selectFrom("vectorStoreFiles").selectAll().where("vectorStoreId", "=", vectorStoreId);
}
