import type { Executor } from "../../storage/database.ts";
import type { ModerationPolicyRow } from "./policy-rows.ts";

export async function findModerationPoliciesOf(
  executor: Executor,
  projectIds: readonly string[],
): Promise<ModerationPolicyRow[]> {
  if (projectIds.length === 0) return [];
  return executor.selectFrom("moderationPolicies").selectAll().where("projectId", "in", projectIds).execute();
}

export async function putModerationPolicy(executor: Executor, row: ModerationPolicyRow): Promise<void> {
  const { projectId: _project, ...policy } = row;
  await executor
    .insertInto("moderationPolicies")
    .values(row)
    .onConflict((conflict) => conflict.column("projectId").doUpdateSet(policy))
    .execute();
}

/** Returns false when there was none. */
export async function deleteModerationPolicy(executor: Executor, projectId: string): Promise<boolean> {
  const result = await executor.deleteFrom("moderationPolicies").where("projectId", "=", projectId).executeTakeFirst();
  return result.numDeletedRows > 0n;
}
