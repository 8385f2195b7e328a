import type { Executor } from "../../../storage/database.ts";
import type { ModelPermissionsRow } from "../account-rows.ts";

/** `scopeId` is a project's ID or the organization's own. */
export interface PermissionScope {
  organizationId: string;
  scopeId: string;
}

export async function findModelPermissions(
  executor: Executor,
  scope: PermissionScope,
): Promise<ModelPermissionsRow | undefined> {
  return executor
    .selectFrom("modelPermissions")
    .selectAll()
    .where("organizationId", "=", scope.organizationId)
    .where("scopeId", "=", scope.scopeId)
    .executeTakeFirst();
}

export async function findModelPermissionsOf(
  executor: Executor,
  scopeIds: readonly string[],
): Promise<ModelPermissionsRow[]> {
  if (scopeIds.length === 0) return [];
  return executor.selectFrom("modelPermissions").selectAll().where("scopeId", "in", scopeIds).execute();
}

export async function putModelPermissions(executor: Executor, row: ModelPermissionsRow): Promise<void> {
  const { mode, modelIds, updatedAt } = row;
  await executor
    .insertInto("modelPermissions")
    .values(row)
    .onConflict((conflict) => conflict.column("scopeId").doUpdateSet({ mode, modelIds, updatedAt }))
    .execute();
}

/** Deletes the permissions; returns false when there were none. */
export async function deleteModelPermissions(executor: Executor, scope: PermissionScope): Promise<boolean> {
  const result = await executor
    .deleteFrom("modelPermissions")
    .where("organizationId", "=", scope.organizationId)
    .where("scopeId", "=", scope.scopeId)
    .executeTakeFirst();
  return result.numDeletedRows > 0n;
}
