/** What stored responses and conversations share: they belong to a project, and end some time after their last use. */

import type { Executor } from "../../storage/database.ts";
import type { ProjectResource } from "../../storage/project-resource.ts";

type Table = "conversations" | "storedResponses";

/** Deletes what belongs to resources whose rows are gone. */
type DeleteContent = (executor: Executor, ids: readonly string[]) => Promise<void>;

/** Deletes the resource and its content. Returns false when there was none. */
export async function deleteResource(
  executor: Executor,
  table: Table,
  { projectId, id }: ProjectResource,
  deleteContent: DeleteContent,
): Promise<boolean> {
  const rows = executor.deleteFrom(table).where("id", "=", id).where("projectId", "=", projectId);
  if ((await rows.executeTakeFirst()).numDeletedRows === 0n) return false;
  await deleteContent(executor, [id]);
  return true;
}

/** Deletes at most `max` resources last used before `time`, with their content, and returns their number. */
export async function removeResourcesBefore(
  executor: Executor,
  table: Table,
  { time, max }: { time: number; max: number },
  deleteContent: DeleteContent,
): Promise<number> {
  const expired = executor.selectFrom(table).select("id").where("usedAt", "<", time).orderBy("usedAt").limit(max);
  const ids = (await expired.execute()).map(({ id }) => id);
  if (ids.length === 0) return 0;
  await executor.deleteFrom(table).where("id", "in", ids).execute();
  await deleteContent(executor, ids);
  return ids.length;
}
