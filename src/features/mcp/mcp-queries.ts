/** Messages of MCP clients on their way between replicas. */

import type { Executor } from "../../storage/database.ts";
import type { McpMessageRow } from "./mcp-rows.ts";

/** Keeps an earlier message with the same ID. */
export async function insertMcpMessage(executor: Executor, row: McpMessageRow): Promise<void> {
  await executor
    .insertInto("mcpMessages")
    .values(row)
    .onConflict((conflict) => conflict.column("id").doNothing())
    .execute();
}

export async function countMcpMessages(executor: Executor, projectId: string): Promise<number> {
  const count = executor.selectFrom("mcpMessages").select(({ fn }) => fn.countAll<number | string>().as("count"));
  // PostgreSQL returns counts as text.
  return Number((await count.where("projectId", "=", projectId).executeTakeFirst())?.count ?? 0);
}

/** Removes messages and returns them. */
export async function takeMcpMessages(executor: Executor, ids: readonly string[]): Promise<McpMessageRow[]> {
  return executor.deleteFrom("mcpMessages").where("id", "in", ids).returningAll().execute();
}

export async function deleteOldMcpMessages(executor: Executor, before: number): Promise<void> {
  await executor.deleteFrom("mcpMessages").where("createdAt", "<", before).execute();
}
