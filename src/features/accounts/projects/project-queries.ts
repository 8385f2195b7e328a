import { sql } from "kysely";
import type { Executor } from "../../../storage/database.ts";
import { type Page, type PageRequest, readPage } from "../../../storage/page.ts";
import type { ProjectRow } from "../account-rows.ts";

/** Reference to a project within the caller's organization, so projects of others cannot be found. */
export interface ProjectReference {
  organizationId: string;
  id: string;
}

export async function insertProject(executor: Executor, row: ProjectRow): Promise<void> {
  await executor.insertInto("projects").values(row).execute();
}

export async function findProject(executor: Executor, project: ProjectReference): Promise<ProjectRow | undefined> {
  return executor
    .selectFrom("projects")
    .selectAll()
    .where("organizationId", "=", project.organizationId)
    .where("id", "=", project.id)
    .executeTakeFirst();
}

export async function findActiveProjects(executor: Executor, organizationId: string): Promise<ProjectRow[]> {
  return executor
    .selectFrom("projects")
    .selectAll()
    .where("organizationId", "=", organizationId)
    .where("archivedAt", "is", null)
    .execute();
}

export async function findDefaultProject(executor: Executor, organizationId: string): Promise<ProjectRow | undefined> {
  return executor
    .selectFrom("projects")
    .selectAll()
    .where("organizationId", "=", organizationId)
    .where("isDefault", "=", 1)
    .executeTakeFirst();
}

export async function listProjects(
  executor: Executor,
  organizationId: string,
  includeArchived: boolean,
  request: PageRequest,
  ids?: readonly string[],
): Promise<Page<ProjectRow>> {
  let all = executor.selectFrom("projects").selectAll().where("organizationId", "=", organizationId);
  if (ids !== undefined) {
    all = ids.length === 0 ? all.where(sql<boolean>`1 = 0`) : all.where("id", "in", ids);
  }
  return readPage(request, "createdAt", all, includeArchived ? all : all.where("archivedAt", "is", null));
}

export async function renameProject(executor: Executor, project: ProjectReference, name: string): Promise<void> {
  await executor
    .updateTable("projects")
    .set({ name })
    .where("organizationId", "=", project.organizationId)
    .where("id", "=", project.id)
    .execute();
}

/** Archives it; returns false when it does not exist or is archived already. */
export async function archiveProject(executor: Executor, project: ProjectReference, now: number): Promise<boolean> {
  const result = await executor
    .updateTable("projects")
    .set({ archivedAt: now })
    .where("organizationId", "=", project.organizationId)
    .where("id", "=", project.id)
    .where("archivedAt", "is", null)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** Makes other transactions that lock the project wait for this one. SQLite has no `for update`. */
export async function lockProject(transaction: Executor, id: string): Promise<void> {
  await transaction
    .updateTable("projects")
    .set(({ ref }) => ({ name: ref("name") }))
    .where("id", "=", id)
    .execute();
}
