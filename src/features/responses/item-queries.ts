/** Items of stored responses and conversations. */

import type { ExpressionBuilder } from "kysely";
import { invalidRequest } from "../../kernel/faults.ts";
import type { Executor } from "../../storage/database.ts";
import { withinBytes } from "../../storage/page.ts";
import type { ProjectResource } from "../../storage/project-resource.ts";
import type { Schema } from "../../storage/schema.ts";
import type { ResponseItemRow } from "./stored-response-rows.ts";

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

/**
 * Lists a page in the order of positions, which ends before its limit when its items are large. Throws a Fault for an
 * unknown `after`.
 */
export async function listItems(
  executor: Executor,
  list: ItemList,
  { after, limit, order }: ItemPageRequest,
): Promise<{ entries: ResponseItemRow[]; hasMore: boolean }> {
  const items = itemsOf(executor, list);
  let query = items
    .select(["id", contentBytes])
    .orderBy("position", order)
    .orderBy("id", order)
    .limit(limit + 1);
  if (after !== undefined) {
    const last = await items.select("position").where("id", "=", after).executeTakeFirst();
    if (last === undefined) {
      const shown = JSON.stringify(after.slice(0, 64));
      throw invalidRequest(`Invalid value for 'after': this list has no item ${shown}.`, "after", "invalid_value");
    }
    query = query.where("position", order === "asc" ? ">" : "<", last.position);
  }
  const rows = await query.execute();
  const page = withinBytes({ entries: rows.slice(0, limit), hasMore: rows.length > limit });
  const ids = page.entries.map(({ id }) => id);
  const entries = await readRows(executor, list.projectId, ids);
  const places = new Map(ids.map((id, index) => [id, index]));
  entries.sort((a, b) => (places.get(a.id) ?? 0) - (places.get(b.id) ?? 0));
  return { entries, hasMore: page.hasMore };
}

const contentBytes = (select: ExpressionBuilder<Schema, "responseItems">) =>
  select.fn<number | string>("length", ["content"]).as("bytes");

function itemsOf(executor: Executor, list: ItemList) {
  const all = executor.selectFrom("responseItems").where("projectId", "=", list.projectId);
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
export async function readRows(
  executor: Executor,
  projectId: string,
  ids: readonly string[],
): Promise<ResponseItemRow[]> {
  if (ids.length === 0) return [];
  const all = executor.selectFrom("responseItems").selectAll();
  return all.where("id", "in", ids).where("projectId", "=", projectId).execute();
}

/** Returns the bytes of each of these items that the project has. */
export async function readItemBytes(
  executor: Executor,
  projectId: string,
  ids: readonly string[],
): Promise<Map<string, number>> {
  if (ids.length === 0) return new Map();
  const all = executor.selectFrom("responseItems").select(["id", contentBytes]);
  const rows = await all.where("id", "in", ids).where("projectId", "=", projectId).execute();
  return new Map(rows.map(({ id, bytes }) => [id, Number(bytes)]));
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

/** Counts all items of these responses or conversations, and their bytes. */
export async function measureItems(
  executor: Executor,
  owner: "responseId" | "conversationId",
  ids: readonly string[],
): Promise<{ count: number; bytes: number }> {
  if (ids.length === 0) return { count: 0, bytes: 0 };
  const { count, bytes } = await executor
    .selectFrom("responseItems")
    .select((select) => [
      select.fn.countAll<number | string>().as("count"),
      select.fn.sum<number | string | null>(select.fn("length", ["content"])).as("bytes"),
    ])
    .where(owner, "in", ids)
    .executeTakeFirstOrThrow();
  return { count: Number(count), bytes: Number(bytes ?? 0) };
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
