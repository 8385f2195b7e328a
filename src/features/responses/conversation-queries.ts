import type { Executor } from "../../storage/database.ts";
import type { ProjectResource } from "../../storage/project-resource.ts";
import { deleteResource, removeResourcesBefore } from "./expiring-resources.ts";
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
export function deleteConversation(executor: Executor, resource: ProjectResource): Promise<boolean> {
  return deleteResource(executor, "conversations", resource, deleteItemsOf);
}

/** Deletes at most `max` conversations last used before `time` and returns their number. */
export function removeConversationsBefore(executor: Executor, time: number, max: number): Promise<number> {
  return removeResourcesBefore(executor, "conversations", { time, max }, deleteItemsOf);
}

async function deleteItemsOf(executor: Executor, ids: readonly string[]): Promise<void> {
  const items = executor.deleteFrom("responseItems").where("conversationId", "in", ids);
  await items.where("responseId", "is", null).execute();
  const detachedItems = executor.updateTable("responseItems").set({ conversationId: null });
  await detachedItems.where("conversationId", "in", ids).execute();
}
