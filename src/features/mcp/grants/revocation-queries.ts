import type { Executor } from "../../../storage/database.ts";
import type { McpRevocationRow } from "../mcp-grant-rows.ts";

/** Stores what revokes the present tokens of a grant, in place of that of earlier ones. */
export async function putRevocation(executor: Executor, grantId: string, content: Buffer): Promise<void> {
  await executor
    .insertInto("mcpRevocations")
    .values({ grantId, content, attempts: 0, nextAttemptAt: 0 })
    .onConflict((conflict) => conflict.column("grantId").doUpdateSet({ content }))
    .execute();
}

export async function findRevocation(executor: Executor, grantId: string): Promise<McpRevocationRow | undefined> {
  return executor.selectFrom("mcpRevocations").selectAll().where("grantId", "=", grantId).executeTakeFirst();
}

/** Reserves the next attempt. Returns false where another process makes it. */
export async function claimRevocation(
  executor: Executor,
  { grantId, attempts }: McpRevocationRow,
  nextAttemptAt: number,
): Promise<boolean> {
  const result = await executor
    .updateTable("mcpRevocations")
    .set({ attempts: attempts + 1, nextAttemptAt })
    .where("grantId", "=", grantId)
    .where("attempts", "=", attempts)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

export async function deleteRevocation(executor: Executor, grantId: string): Promise<void> {
  await executor.deleteFrom("mcpRevocations").where("grantId", "=", grantId).execute();
}

/** Lists grants that were deleted and whose tokens are due to be revoked. */
export async function listDueRevocations(executor: Executor, now: number, limit: number): Promise<McpRevocationRow[]> {
  return executor
    .selectFrom("mcpRevocations")
    .selectAll()
    .where("nextAttemptAt", "<=", now)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(selectFrom("mcpGrants").select("mcpGrants.id").whereRef("mcpGrants.id", "=", "mcpRevocations.grantId")),
      ),
    )
    .orderBy("nextAttemptAt")
    .limit(limit)
    .execute();
}

/** Whether any tokens may have to be revoked. */
export async function hasRevocations(executor: Executor): Promise<boolean> {
  const row = await executor.selectFrom("mcpRevocations").select("grantId").limit(1).executeTakeFirst();
  return row !== undefined;
}

/** Lists rows by grant, after one. */
export async function listRevocationsAfter(
  executor: Executor,
  after: string,
  limit: number,
): Promise<McpRevocationRow[]> {
  const rows = executor.selectFrom("mcpRevocations").selectAll().where("grantId", ">", after);
  return rows.orderBy("grantId").limit(limit).execute();
}

/** Replaces what a former key encrypted, unless it changed meanwhile. */
export async function replaceRevocation(executor: Executor, row: McpRevocationRow, content: Buffer): Promise<void> {
  await executor
    .updateTable("mcpRevocations")
    .set({ content })
    .where("grantId", "=", row.grantId)
    .where("content", "=", row.content)
    .execute();
}

/** Notes since when the servers of grants are not configured, and deletes grants that nobody could use since `before`. */
export async function deleteUnused(
  executor: Executor,
  { servers, now, before }: { servers: readonly string[]; now: number; before: number },
): Promise<number> {
  const names = servers.length === 0 ? [""] : [...servers];
  const grants = executor.updateTable("mcpGrants");
  await grants.set({ unusedSince: null }).where("server", "in", names).where("unusedSince", "is not", null).execute();
  await grants.set({ unusedSince: now }).where("server", "not in", names).where("unusedSince", "is", null).execute();
  const result = await executor.deleteFrom("mcpGrants").where("unusedSince", "<", before).executeTakeFirst();
  return Number(result.numDeletedRows);
}
