import type { Executor } from "../../storage/database.ts";
import type { ProjectResource } from "./stored-response-queries.ts";
import type { ConversationRow } from "./stored-response-rows.ts";

export async function insertConversation(executor: Executor, row: ConversationRow): Promise<void> {
  await executor.insertInto("conversations").values(row).execute();
}

export async function findConversation(
  executor: Executor,
  { projectId, id }: ProjectResource,
): Promise<ConversationRow | undefined> {
  return executor
    .selectFrom("conversations")
    .selectAll()
    .where("id", "=", id)
    .where("projectId", "=", projectId)
    .executeTakeFirst();
}

/**
 * Changes the conversation and, until the transaction ends, makes others that add items wait. Returns false when it does
 * not exist.
 */
export async function updateConversation(
  executor: Executor,
  { projectId, id }: ProjectResource,
  change: Partial<Pick<ConversationRow, "usedAt" | "content">>,
): Promise<boolean> {
  const result = await executor
    .updateTable("conversations")
    .set(change)
    .where("id", "=", id)
    .where("projectId", "=", projectId)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** Deletes the conversation, and its items that are in no stored response. Returns false when there was none. */
export async function deleteConversation(executor: Executor, { projectId, id }: ProjectResource): Promise<boolean> {
  const result = await executor
    .deleteFrom("conversations")
    .where("id", "=", id)
    .where("projectId", "=", projectId)
    .executeTakeFirst();
  if (result.numDeletedRows === 0n) return false;
  await deleteItemsOf(executor, [id]);
  return true;
}

/** Deletes at most `max` conversations last used before `time` and returns their number. */
export async function removeConversationsBefore(executor: Executor, time: number, max: number): Promise<number> {
  const expired = await executor
    .selectFrom("conversations")
    .select("id")
    .where("usedAt", "<", time)
    .orderBy("usedAt")
    .limit(max)
    .execute();
  const ids = expired.map(({ id }) => id);
  if (ids.length === 0) return 0;
  await executor.deleteFrom("conversations").where("id", "in", ids).execute();
  await deleteItemsOf(executor, ids);
  return ids.length;
}

async function deleteItemsOf(executor: Executor, ids: readonly string[]): Promise<void> {
  const items = executor.deleteFrom("responseItems").where("conversationId", "in", ids);
  await items.where("responseId", "is", null).execute();
  const detachedItems = executor.updateTable("responseItems").set({ conversationId: null });
  await detachedItems.where("conversationId", "in", ids).execute();
}
