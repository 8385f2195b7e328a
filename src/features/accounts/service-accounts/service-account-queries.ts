import type { Executor } from "../../../storage/database.ts";
import { type Page, type PageRequest, readPage } from "../../../storage/page.ts";
import type { ServiceAccountRow } from "../account-rows.ts";

export interface ServiceAccountReference {
  organizationId: string;
  projectId: string;
  id: string;
}

export async function insertServiceAccount(executor: Executor, row: ServiceAccountRow): Promise<void> {
  await executor.insertInto("serviceAccounts").values(row).execute();
}

/** Finds an account; undefined also for a deleted one. */
export async function findServiceAccount(
  executor: Executor,
  account: ServiceAccountReference,
): Promise<ServiceAccountRow | undefined> {
  return executor
    .selectFrom("serviceAccounts")
    .selectAll()
    .where("organizationId", "=", account.organizationId)
    .where("projectId", "=", account.projectId)
    .where("id", "=", account.id)
    .where("deletedAt", "is", null)
    .executeTakeFirst();
}

export async function findServiceAccounts(executor: Executor, ids: readonly string[]): Promise<ServiceAccountRow[]> {
  if (ids.length === 0) return [];
  return executor.selectFrom("serviceAccounts").selectAll().where("id", "in", ids).execute();
}

export async function listServiceAccounts(
  executor: Executor,
  project: { organizationId: string; id: string },
  request: PageRequest,
): Promise<Page<ServiceAccountRow>> {
  const all = executor
    .selectFrom("serviceAccounts")
    .selectAll()
    .where("organizationId", "=", project.organizationId)
    .where("projectId", "=", project.id);
  return readPage(request, "createdAt", all, all.where("deletedAt", "is", null));
}

export async function updateServiceAccount(
  executor: Executor,
  id: string,
  change: Partial<Pick<ServiceAccountRow, "name" | "role">>,
): Promise<void> {
  await executor.updateTable("serviceAccounts").set(change).where("id", "=", id).execute();
}

/** Marks the account as deleted; the row stays because usage records refer to its name. */
export async function deleteServiceAccount(executor: Executor, id: string, now: number): Promise<void> {
  await executor.updateTable("serviceAccounts").set({ deletedAt: now }).where("id", "=", id).execute();
}
