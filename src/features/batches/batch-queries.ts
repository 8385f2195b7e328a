/** Batches: those that clients read are found through their project, and a run changes its batch through its run ID. */

import type { RawBuilder, Updateable } from "kysely";
import type { Executor } from "../../storage/database.ts";
import { type Page, type PageRequest, readPage } from "../../storage/page.ts";
import type { ProjectResource } from "../../storage/project-resource.ts";
import { markStored } from "../files/index.ts";
import type { BatchPartRow, BatchRow } from "./batch-rows.ts";

export async function insertBatch(executor: Executor, row: BatchRow): Promise<void> {
  await executor.insertInto("batches").values(row).execute();
}

export async function findBatch(executor: Executor, { projectId, id }: ProjectResource): Promise<BatchRow | undefined> {
  return ofProject(executor, projectId).where("id", "=", id).executeTakeFirst();
}

export async function listBatches(
  executor: Executor,
  request: PageRequest & { projectId: string; endpoint?: string },
): Promise<Page<BatchRow>> {
  const scope = ofProject(executor, request.projectId);
  const { endpoint } = request;
  return readPage(request, "createdAt", scope, endpoint === undefined ? scope : scope.where("endpoint", "=", endpoint));
}

/** Finds a batch that has not ended and reads this file. */
export async function findBatchOfInput(
  executor: Executor,
  { projectId, id }: ProjectResource,
): Promise<BatchRow | undefined> {
  return ofProject(executor, projectId).where("inputFileId", "=", id).where("endedAt", "is", null).executeTakeFirst();
}

/** Asks for the end of a batch, now also if it waits; one that has ended, or is about to, stays as it is. */
export async function requestCancellation(
  executor: Executor,
  { projectId, id }: ProjectResource,
  now: number,
): Promise<void> {
  const update = executor.updateTable("batches").set(({ eb, ref }) => ({
    ...{ status: "cancelling", cancellingAt: now },
    dueAt: eb.case().when("runId", "is", null).then(0).else(ref("dueAt")).end(),
  }));
  const running = ["validating", "in_progress"] as const;
  await update.where("id", "=", id).where("projectId", "=", projectId).where("status", "in", running).execute();
}

export type ClaimedBatch = BatchRow & { runId: string };

/** A batch, for the run that it was given to. */
export interface OwnedBatch {
  id: string;
  runId: string;
}

/** Reads the status; undefined once another run has the batch. */
export async function readOwnedStatus(
  executor: Executor,
  { id, runId }: OwnedBatch,
): Promise<BatchRow["status"] | undefined> {
  const query = executor.selectFrom("batches").select("status").where("id", "=", id).where("runId", "=", runId);
  return (await query.executeTakeFirst())?.status;
}

/** Changes a batch that has not ended, from the status `from` if it is given. Returns false when it has another run. */
export async function updateOwnedBatch(
  executor: Executor,
  { id, runId }: OwnedBatch,
  change: Updateable<Omit<BatchRow, "id" | "projectId" | "dueAt">> & { dueAt?: RawBuilder<number> },
  from?: BatchRow["status"],
): Promise<boolean> {
  const update = executor.updateTable("batches").set(change).where("id", "=", id).where("runId", "=", runId);
  const open = update.where("endedAt", "is", null);
  const result = await (from === undefined ? open : open.where("status", "=", from)).executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** What a part adds to its batch. */
export type BatchCounts = Pick<
  BatchRow,
  "completed" | "failed" | "promptTokens" | "cachedTokens" | "completionTokens" | "reasoningTokens"
>;

/** Adds the answers of some lines. Returns false when the batch has another run, and nothing is added. */
export async function addBatchPart(
  executor: Executor,
  owned: OwnedBatch,
  part: Omit<BatchPartRow, "batchId">,
  counts: BatchCounts,
): Promise<boolean> {
  const result = await executor
    .updateTable("batches")
    .set(({ eb }) => ({
      completed: eb("completed", "+", counts.completed),
      failed: eb("failed", "+", counts.failed),
      promptTokens: eb("promptTokens", "+", counts.promptTokens),
      cachedTokens: eb("cachedTokens", "+", counts.cachedTokens),
      completionTokens: eb("completionTokens", "+", counts.completionTokens),
      reasoningTokens: eb("reasoningTokens", "+", counts.reasoningTokens),
    }))
    .where("id", "=", owned.id)
    .where("runId", "=", owned.runId)
    .where("endedAt", "is", null)
    .executeTakeFirst();
  if (result.numUpdatedRows === 0n) return false;
  await executor
    .insertInto("batchParts")
    .values({ batchId: owned.id, ...part })
    .execute();
  return true;
}

export async function listBatchParts(executor: Executor, batchId: string): Promise<BatchPartRow[]> {
  return executor.selectFrom("batchParts").selectAll().where("batchId", "=", batchId).orderBy("position").execute();
}

export interface BatchEnd extends Partial<Pick<BatchRow, "errors" | "outputFileId" | "errorFileId">> {
  status: "completed" | "failed" | "expired" | "cancelled";
}

/** Ends a batch, and shows its files. `unanswered` lines count as failed. Returns false when it has another run. */
export async function endBatch(
  executor: Executor,
  owned: OwnedBatch & { projectId: string },
  change: BatchEnd,
  unanswered = 0,
): Promise<boolean> {
  if (!(await updateOwnedBatch(executor, owned, { ...change, endedAt: Date.now() }))) return false;
  const count = executor
    .updateTable("batches")
    .set(({ eb }) => ({ failed: eb("failed", "+", unanswered), unanswered }));
  await count.where("id", "=", owned.id).execute();
  await executor.deleteFrom("batchParts").where("batchId", "=", owned.id).execute();
  for (const id of [change.outputFileId, change.errorFileId]) {
    if (id) await markStored(executor, { projectId: owned.projectId, id });
  }
  return true;
}

/** Lists at most `max` batches that ended before `time` or whose project is archived. */
export async function listRemovableBatches(executor: Executor, time: number, max: number): Promise<string[]> {
  const archived = executor.selectFrom("projects").select("id").where("archivedAt", "is not", null);
  const removable = await executor
    .selectFrom("batches")
    .select("id")
    .where("endedAt", "is not", null)
    .where(({ eb, or }) => or([eb("endedAt", "<", time), eb("projectId", "in", archived)]))
    .limit(max)
    .execute();
  return removable.map(({ id }) => id);
}

export async function removeBatches(executor: Executor, ids: readonly string[]): Promise<void> {
  await executor.deleteFrom("batches").where("id", "in", ids).execute();
}

function ofProject(executor: Executor, projectId: string) {
  return executor.selectFrom("batches").selectAll().where("projectId", "=", projectId);
}
