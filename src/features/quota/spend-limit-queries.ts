import type { Executor } from "../../storage/database.ts";
import type { SpendLimitRow } from "./limit-rows.ts";

export async function findSpendLimitsOf(executor: Executor, scopeIds: readonly string[]): Promise<SpendLimitRow[]> {
  if (scopeIds.length === 0) return [];
  return executor.selectFrom("spendLimits").selectAll().where("scopeId", "in", scopeIds).execute();
}

/** Sets a limit; an existing one keeps its `begunAt`. */
export async function putSpendLimit(executor: Executor, row: SpendLimitRow): Promise<void> {
  const { scopeId: _scope, organizationId: _organization, begunAt: _begun, ...limit } = row;
  await executor
    .insertInto("spendLimits")
    .values(row)
    .onConflict((conflict) => conflict.column("scopeId").doUpdateSet(limit))
    .execute();
}

/** Returns false when there was none. */
export async function deleteSpendLimit(executor: Executor, scopeId: string): Promise<boolean> {
  const result = await executor.deleteFrom("spendLimits").where("scopeId", "=", scopeId).executeTakeFirst();
  return result.numDeletedRows > 0n;
}
