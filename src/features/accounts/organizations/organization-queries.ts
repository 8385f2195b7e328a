import type { Executor } from "../../../storage/database.ts";
import type { OrganizationRow } from "../account-rows.ts";

export async function insertOrganization(executor: Executor, row: OrganizationRow): Promise<void> {
  await executor.insertInto("organizations").values(row).execute();
}

export async function findOrganization(executor: Executor, id: string): Promise<OrganizationRow | undefined> {
  return executor.selectFrom("organizations").selectAll().where("id", "=", id).executeTakeFirst();
}

export async function findDefaultOrganization(executor: Executor): Promise<OrganizationRow | undefined> {
  return executor.selectFrom("organizations").selectAll().where("isDefault", "=", 1).executeTakeFirst();
}

/** Lists organizations, oldest first. */
export async function listOrganizations(executor: Executor): Promise<OrganizationRow[]> {
  return executor.selectFrom("organizations").selectAll().orderBy("createdAt").orderBy("id").execute();
}

/** Archives it; returns false when it is archived already. */
export async function archiveOrganization(executor: Executor, id: string, now: number): Promise<boolean> {
  const result = await executor
    .updateTable("organizations")
    .set({ archivedAt: now })
    .where("id", "=", id)
    .where("archivedAt", "is", null)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}
