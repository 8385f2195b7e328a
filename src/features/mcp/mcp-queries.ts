/** Messages of MCP clients on their way between replicas. */

import { sql } from "kysely";
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

/** Number and characters of a project's messages. */
export async function measureMcpMessages(
  executor: Executor,
  projectId: string,
): Promise<{ count: number; bytes: number }> {
  const row = await executor
    .selectFrom("mcpMessages")
    .select(({ fn }) => [
      fn.countAll<number | string>().as("count"),
      sql<number | string | null>`sum(length(content))`.as("bytes"),
    ])
    .where("projectId", "=", projectId)
    .executeTakeFirst();
  // PostgreSQL returns counts and sums as text.
  return { count: Number(row?.count ?? 0), bytes: Number(row?.bytes ?? 0) };
}

/** Removes messages and returns them. */
export async function takeMcpMessages(executor: Executor, ids: readonly string[]): Promise<McpMessageRow[]> {
  return executor.deleteFrom("mcpMessages").where("id", "in", ids).returningAll().execute();
}

export async function deleteOldMcpMessages(executor: Executor, before: number): Promise<void> {
  await executor.deleteFrom("mcpMessages").where("createdAt", "<", before).execute();
}
