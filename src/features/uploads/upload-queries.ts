/** Uploads, always found through their project. */

import type { Executor } from "../../storage/database.ts";
import type { ProjectResource } from "../../storage/project-resource.ts";
import type { UploadPartRow, UploadRow } from "./upload-rows.ts";

export async function insertUpload(executor: Executor, row: UploadRow): Promise<void> {
  await executor.insertInto("uploads").values(row).execute();
}

export async function findUpload(
  executor: Executor,
  { projectId, id }: ProjectResource,
): Promise<UploadRow | undefined> {
  const uploads = executor.selectFrom("uploads").selectAll().where("id", "=", id);
  return uploads.where("projectId", "=", projectId).executeTakeFirst();
}

/** Changes the status of an upload. Returns false when it has another one than `from`. */
export async function changeUpload(
  executor: Executor,
  { projectId, id }: ProjectResource,
  from: UploadRow["status"],
  change: Pick<UploadRow, "status"> & Partial<Pick<UploadRow, "fileId">>,
): Promise<boolean> {
  const update = executor.updateTable("uploads").set(change).where("id", "=", id).where("projectId", "=", projectId);
  const result = await update.where("status", "=", from).executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

export async function insertUploadPart(executor: Executor, row: UploadPartRow): Promise<void> {
  await executor.insertInto("uploadParts").values(row).execute();
}

export async function listUploadParts(executor: Executor, uploadId: string): Promise<UploadPartRow[]> {
  return executor.selectFrom("uploadParts").selectAll().where("uploadId", "=", uploadId).execute();
}

/** Sums the announced bytes of a project's open uploads. */
export async function sumOpenUploads(executor: Executor, projectId: string, now: number): Promise<number> {
  const sum = executor.selectFrom("uploads").select(({ fn }) => fn.sum<number | string>("bytes").as("bytes"));
  const open = sum.where("projectId", "=", projectId).where("status", "in", ["pending", "completing"]);
  // PostgreSQL returns sums as text.
  return Number((await open.where("expiresAt", ">", now).executeTakeFirst())?.bytes ?? 0);
}

/** Lists at most `max` uploads that expired, or whose project is archived. */
export async function listRemovableUploads(executor: Executor, now: number, max: number): Promise<ProjectResource[]> {
  const archived = executor.selectFrom("projects").select("id").where("archivedAt", "is not", null);
  return executor
    .selectFrom("uploads")
    .select(["id", "projectId"])
    .where(({ eb, or }) => or([eb("expiresAt", "<=", now), eb("projectId", "in", archived)]))
    .limit(max)
    .execute();
}

export async function deleteUploadPart(executor: Executor, id: string): Promise<void> {
  await executor.deleteFrom("uploadParts").where("id", "=", id).execute();
}

export async function deleteUploadParts(executor: Executor, uploadId: string): Promise<void> {
  await executor.deleteFrom("uploadParts").where("uploadId", "=", uploadId).execute();
}

export async function deleteUpload(executor: Executor, id: string): Promise<void> {
  await deleteUploadParts(executor, id);
  await executor.deleteFrom("uploads").where("id", "=", id).execute();
}
