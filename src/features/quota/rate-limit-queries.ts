import type { Executor } from "../../storage/database.ts";
import type { RateLimitRow } from "./limit-rows.ts";

export async function findRateLimitsOf(executor: Executor, projectIds: readonly string[]): Promise<RateLimitRow[]> {
  if (projectIds.length === 0) return [];
  return executor.selectFrom("rateLimits").selectAll().where("projectId", "in", projectIds).execute();
}

export async function putRateLimit(executor: Executor, row: RateLimitRow): Promise<void> {
  const { projectId: _project, model: _model, ...limits } = row;
  await executor
    .insertInto("rateLimits")
    .values(row)
    .onConflict((conflict) => conflict.columns(["projectId", "model"]).doUpdateSet(limits))
    .execute();
}
