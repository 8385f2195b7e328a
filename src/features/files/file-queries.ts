/** Metadata of files, always found through their project. */

import type { Executor } from "../../storage/database.ts";
import { type Page, type PageRequest, readPage } from "../../storage/page.ts";
import type { ProjectResource } from "../../storage/project-resource.ts";
import type { FileRow } from "./file-rows.ts";

export async function insertFile(executor: Executor, row: FileRow): Promise<void> {
  await executor.insertInto("files").values(row).execute();
}

/** Marks a file whose bytes are stored. */
export async function markStored(executor: Executor, { projectId, id }: ProjectResource): Promise<void> {
  const update = executor.updateTable("files").set({ isStored: 1 }).where("id", "=", id);
  await update.where("projectId", "=", projectId).execute();
}

export async function findFile(executor: Executor, { projectId, id }: ProjectResource): Promise<FileRow | undefined> {
  return stored(executor, projectId).where("id", "=", id).executeTakeFirst();
}

export interface FilePageRequest extends PageRequest {
  projectId: string;
  purpose: string | undefined;
}

export async function listFiles(executor: Executor, request: FilePageRequest): Promise<Page<FileRow>> {
  const { projectId, purpose } = request;
  const scope = stored(executor, projectId);
  const list = purpose === undefined ? scope : scope.where("purpose", "=", purpose as FileRow["purpose"]);
  return readPage(request, "createdAt", scope, list);
}

/** Returns false when there was none. */
export async function deleteFile(executor: Executor, { projectId, id }: ProjectResource): Promise<boolean> {
  const deletion = executor.deleteFrom("files").where("id", "=", id).where("projectId", "=", projectId);
  return (await deletion.executeTakeFirst()).numDeletedRows > 0n;
}

/** Sums the bytes of a project, those of running uploads included. */
export async function sumFileBytes(executor: Executor, projectId: string): Promise<number> {
  const sum = executor.selectFrom("files").select(({ fn }) => fn.sum<number | string>("bytes").as("bytes"));
  const row = await sum.where("projectId", "=", projectId).executeTakeFirst();
  // PostgreSQL returns sums as text.
  return Number(row?.bytes ?? 0);
}

/**
 * Returns at most `max` files that have expired, whose upload was abandoned before `abandonedBefore`, or whose project
 * is archived. The input of a batch that runs is kept.
 */
export async function listRemovableFiles(
  executor: Executor,
  { now, abandonedBefore, max }: { now: number; abandonedBefore: number; max: number },
): Promise<ProjectResource[]> {
  const archived = executor.selectFrom("projects").select("id").where("archivedAt", "is not", null);
  const inUse = executor.selectFrom("batches").select("inputFileId").where("endedAt", "is", null);
  return executor
    .selectFrom("files")
    .select(["id", "projectId"])
    .where(({ eb, or, and }) =>
      or([
        eb("expiresAt", "<=", now),
        and([eb("isStored", "=", 0), eb("createdAt", "<", abandonedBefore)]),
        eb("projectId", "in", archived),
      ]),
    )
    .where("id", "not in", inUse)
    .limit(max)
    .execute();
}

function stored(executor: Executor, projectId: string) {
  return executor.selectFrom("files").selectAll().where("projectId", "=", projectId).where("isStored", "=", 1);
}
