/** Items of stored responses and conversations. */

import { invalidRequest } from "../faults.ts";
import type { Executor } from "./database.ts";
import type { ResponseItemRow } from "./schema.ts";
import type { ProjectResource } from "./stored-responses.ts";

/** Input items of one response, or all items of one conversation. */
export type ItemList = { projectId: string } & ({ responseId: string } | { conversationId: string });

export interface ItemPageRequest {
  /** Id of the last item of the page before this one. */
  after?: string | undefined;
  limit: number;
  order: "asc" | "desc";
}

/** SQLite limits a statement to 32,766 parameters. */
const ROWS_AT_ONCE = 500;

export async function insertItems(executor: Executor, rows: readonly ResponseItemRow[]): Promise<void> {
  for (let start = 0; start < rows.length; start += ROWS_AT_ONCE) {
    await executor
      .insertInto("responseItems")
      .values(rows.slice(start, start + ROWS_AT_ONCE))
      .execute();
  }
}

/** Returns the position after the last item of a conversation. */
export async function nextPosition(executor: Executor, conversationId: string): Promise<number> {
  const { last } = await executor
    .selectFrom("responseItems")
    .select((select) => select.fn.max("position").as("last"))
    .where("conversationId", "=", conversationId)
    .executeTakeFirstOrThrow();
  return last === null ? 0 : Number(last) + 1;
}

/** Lists a page in the order of positions. Throws a Fault for an unknown `after`. */
export async function listItems(
  executor: Executor,
  list: ItemList,
  { after, limit, order }: ItemPageRequest,
): Promise<{ entries: ResponseItemRow[]; hasMore: boolean }> {
  const items = itemsOf(executor, list);
  let query = items
    .orderBy("position", order)
    .orderBy("id", order)
    .limit(limit + 1);
  if (after !== undefined) {
    const last = await items.where("id", "=", after).executeTakeFirst();
    if (last === undefined) {
      const shown = JSON.stringify(after.slice(0, 64));
      throw invalidRequest(`Invalid value for 'after': this list has no item ${shown}.`, "after", "invalid_value");
    }
    query = query.where("position", order === "asc" ? ">" : "<", last.position);
  }
  const found = await query.execute();
  return { entries: found.slice(0, limit), hasMore: found.length > limit };
}

function itemsOf(executor: Executor, list: ItemList) {
  const all = executor.selectFrom("responseItems").selectAll().where("projectId", "=", list.projectId);
  return "responseId" in list
    ? all.where("responseId", "=", list.responseId).where("isOutput", "=", 0)
    : all.where("conversationId", "=", list.conversationId);
}

export async function findItem(
  executor: Executor,
  { projectId, id }: ProjectResource,
): Promise<ResponseItemRow | undefined> {
  return executor
    .selectFrom("responseItems")
    .selectAll()
    .where("id", "=", id)
    .where("projectId", "=", projectId)
    .executeTakeFirst();
}

/** Returns the items with these ids, in any order. */
export async function findItems(
  executor: Executor,
  projectId: string,
  ids: readonly string[],
): Promise<ResponseItemRow[]> {
  if (ids.length === 0) return [];
  const all = executor.selectFrom("responseItems").selectAll();
  return all.where("id", "in", ids).where("projectId", "=", projectId).execute();
}

/** Removes an item from a conversation; a stored response keeps it. Returns false when the item is not in it. */
export async function removeFromConversation(
  executor: Executor,
  { projectId, id }: ProjectResource,
  conversationId: string,
): Promise<boolean> {
  const item = await findItem(executor, { projectId, id });
  if (item === undefined || item.conversationId !== conversationId) return false;
  if (item.responseId === null) await executor.deleteFrom("responseItems").where("id", "=", id).execute();
  else await executor.updateTable("responseItems").set({ conversationId: null }).where("id", "=", id).execute();
  return true;
}

/** Sums the bytes of all items of these responses or conversations. */
export async function sumItemBytes(
  executor: Executor,
  owner: "responseId" | "conversationId",
  ids: readonly string[],
): Promise<number> {
  if (ids.length === 0) return 0;
  const { bytes } = await executor
    .selectFrom("responseItems")
    .select((select) => select.fn.sum<number | string | null>(select.fn("length", ["content"])).as("bytes"))
    .where(owner, "in", ids)
    .executeTakeFirstOrThrow();
  return Number(bytes ?? 0);
}

/** Reads all items of these responses or conversations, in the order of their positions. */
export async function readItems(
  executor: Executor,
  owner: "responseId" | "conversationId",
  ids: readonly string[],
): Promise<ResponseItemRow[]> {
  if (ids.length === 0) return [];
  return executor.selectFrom("responseItems").selectAll().where(owner, "in", ids).orderBy("position").execute();
}
