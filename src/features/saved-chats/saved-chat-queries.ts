/** Saved chats, always found through their person. */

import { sql } from "kysely";
import type { Executor } from "../../storage/database.ts";
import type { SavedChatRow } from "./saved-chat-rows.ts";
import type { SavedChatPlace } from "./sealed-chats.ts";

export type ChatOwner = Pick<SavedChatRow, "projectId" | "userId">;

/** Row without its content. */
export type SavedChatHead = Omit<SavedChatRow, "content">;

const PLACE = ["projectId", "userId", "id"] as const;
const HEAD = [
  ...PLACE,
  "revision",
  "bytes",
  "createdAt",
  "updatedAt",
  "title",
  "folder",
  "isPinned",
  "sharedOf",
] as const;

/** Makes other changes of the person's chats wait until the transaction ends. */
export async function lockChatsOf(transaction: Executor, userId: string): Promise<void> {
  await transaction
    .updateTable("users")
    .set(({ ref }) => ({ name: ref("name") }))
    .where("id", "=", userId)
    .execute();
}

/** Lists the person's chats in a project and their shared copies, the one that changed last first. */
export async function listChats(executor: Executor, { projectId, userId }: ChatOwner): Promise<SavedChatHead[]> {
  return executor
    .selectFrom("savedChats")
    .select(HEAD)
    .where("userId", "=", userId)
    .where("projectId", "=", projectId)
    .orderBy("updatedAt", "desc")
    .orderBy("id")
    .execute();
}

/** Lists the person's chats in all projects. */
export async function listChatsOfPerson(executor: Executor, userId: string): Promise<SavedChatHead[]> {
  return executor.selectFrom("savedChats").select(HEAD).where("userId", "=", userId).execute();
}

export async function findChat(executor: Executor, place: SavedChatPlace): Promise<SavedChatRow | undefined> {
  return at(executor.selectFrom("savedChats").selectAll(), place).executeTakeFirst();
}

export async function findHead(executor: Executor, place: SavedChatPlace): Promise<SavedChatHead | undefined> {
  return at(executor.selectFrom("savedChats").select(HEAD), place).executeTakeFirst();
}

/** Finds the shared copy of a chat. */
export async function findShareOf(executor: Executor, place: SavedChatPlace): Promise<SavedChatHead | undefined> {
  return executor
    .selectFrom("savedChats")
    .select(HEAD)
    .where("userId", "=", place.userId)
    .where("projectId", "=", place.projectId)
    .where("sharedOf", "=", place.id)
    .executeTakeFirst();
}

/** Finds a shared copy in the project, with the name of the person who shares it. */
export async function findShare(
  executor: Executor,
  { projectId, id }: Pick<SavedChatPlace, "projectId" | "id">,
): Promise<(SavedChatRow & { author: string }) | undefined> {
  return executor
    .selectFrom("savedChats")
    .innerJoin("users", "users.id", "savedChats.userId")
    .selectAll("savedChats")
    .select("users.name as author")
    .where("savedChats.projectId", "=", projectId)
    .where("savedChats.id", "=", id)
    .where("savedChats.sharedOf", "is not", null)
    .executeTakeFirst();
}

/** Counts what a person stores in all projects. */
export async function measureChatsOf(executor: Executor, userId: string): Promise<{ chats: number; bytes: number }> {
  const { chats, bytes } = await executor
    .selectFrom("savedChats")
    .select(({ fn }) => [
      fn.countAll<number | string>().as("chats"),
      fn.sum<number | string | null>("bytes").as("bytes"),
    ])
    .where("userId", "=", userId)
    .executeTakeFirstOrThrow();
  return { chats: Number(chats), bytes: Number(bytes ?? 0) };
}

export async function insertChat(executor: Executor, row: SavedChatRow): Promise<void> {
  await executor.insertInto("savedChats").values(row).execute();
}

/** Changes a chat that still has this revision. */
export async function updateChat(
  executor: Executor,
  { projectId, userId, id, revision }: SavedChatPlace & Pick<SavedChatRow, "revision">,
  change: Partial<Omit<SavedChatRow, keyof SavedChatPlace>>,
): Promise<void> {
  await executor
    .updateTable("savedChats")
    .set(change)
    .where("userId", "=", userId)
    .where("projectId", "=", projectId)
    .where("id", "=", id)
    .where("revision", "=", revision)
    .execute();
}

/** Deletes one chat of a person, those in a project, or all, with their shared copies; returns the number of rows. */
export async function deleteChats(
  executor: Executor,
  { userId, projectId, id }: Pick<SavedChatRow, "userId"> & Partial<SavedChatPlace>,
): Promise<number> {
  let deletion = executor.deleteFrom("savedChats").where("userId", "=", userId);
  if (projectId !== undefined) deletion = deletion.where("projectId", "=", projectId);
  if (id !== undefined) deletion = deletion.where((eb) => eb.or([eb("id", "=", id), eb("sharedOf", "=", id)]));
  return Number((await deletion.executeTakeFirstOrThrow()).numDeletedRows);
}

/** Deletes at most `limit` chats that did not change since `before`; returns their number. */
export async function removeChatsBefore(executor: Executor, before: number, limit: number): Promise<number> {
  const query = executor.selectFrom("savedChats").select(PLACE).where("updatedAt", "<", before);
  return removeAll(executor, await query.limit(limit).execute());
}

/** Deletes at most `limit` chats of archived projects; returns their number. */
export async function removeChatsOfArchived(executor: Executor, limit: number): Promise<number> {
  const archived = executor.selectFrom("projects").select("id").where("archivedAt", "is not", null);
  const query = executor.selectFrom("savedChats").select(PLACE).where("projectId", "in", archived);
  return removeAll(executor, await query.limit(limit).execute());
}

async function removeAll(executor: Executor, places: readonly SavedChatPlace[]): Promise<number> {
  for (const place of places) await deleteChats(executor, place);
  return places.length;
}

/** Reads chats that another key than the current one encrypted, in the order of persons, projects and IDs. */
export async function listChatsOfOtherKeys(
  executor: Executor,
  header: Buffer,
  after: SavedChatPlace,
  limit: number,
): Promise<SavedChatRow[]> {
  return executor
    .selectFrom("savedChats")
    .selectAll()
    .where(sql<boolean>`(user_id, project_id, id) > (${after.userId}, ${after.projectId}, ${after.id})`)
    .where(sql<boolean>`substr(title, 1, ${header.length}) <> ${header}`)
    .orderBy("userId")
    .orderBy("projectId")
    .orderBy("id")
    .limit(limit)
    .execute();
}

interface Narrowed<Query> {
  where(column: "userId" | "projectId" | "id", operator: "=", value: string): Query;
}

function at<Query extends Narrowed<Query>>(query: Query, { userId, projectId, id }: SavedChatPlace): Query {
  return query.where("userId", "=", userId).where("projectId", "=", projectId).where("id", "=", id);
}
