/** Rows of skills, always found through their project. */

import { sql } from "kysely";
import type { Executor } from "../../storage/database.ts";
import { type Page, type PageRequest, readPage } from "../../storage/page.ts";
import type { ProjectResource } from "../../storage/project-resource.ts";
import type { ShownSkill } from "../../wire/openai/skills.ts";
import type { SkillRow, SkillVersionRow } from "./skill-rows.ts";

export async function insertSkill(executor: Executor, row: SkillRow): Promise<void> {
  await executor.insertInto("skills").values(row).execute();
}

export async function insertVersion(executor: Executor, row: SkillVersionRow): Promise<void> {
  await executor.insertInto("skillVersions").values(row).execute();
}

/** Gives a version whose bundle is stored its number. */
export async function numberVersion(executor: Executor, id: string, version: number, createdAt: number) {
  await executor.updateTable("skillVersions").set({ version, createdAt }).where("id", "=", id).execute();
}

export async function findSkill(executor: Executor, { projectId, id }: ProjectResource): Promise<SkillRow | undefined> {
  const query = executor.selectFrom("skills").selectAll().where("id", "=", id);
  return query.where("projectId", "=", projectId).executeTakeFirst();
}

/** Finds a skill and makes other changes of it wait until the end of the transaction. */
export async function lockSkill(executor: Executor, resource: ProjectResource): Promise<SkillRow | undefined> {
  const lock = executor.updateTable("skills").set({ lastVersion: sql`last_version` });
  await lock.where("id", "=", resource.id).where("projectId", "=", resource.projectId).execute();
  return findSkill(executor, resource);
}

export async function updateSkill(
  executor: Executor,
  id: string,
  change: Partial<Pick<SkillRow, "defaultVersion" | "lastVersion">>,
): Promise<void> {
  await executor.updateTable("skills").set(change).where("id", "=", id).execute();
}

export async function findVersion(
  executor: Executor,
  skillId: string,
  version: number,
): Promise<SkillVersionRow | undefined> {
  return ofSkill(executor, skillId).where("version", "=", version).executeTakeFirst();
}

export async function findLatestVersion(executor: Executor, skillId: string): Promise<SkillVersionRow | undefined> {
  return ofSkill(executor, skillId).orderBy("version", "desc").limit(1).executeTakeFirst();
}

export async function listVersions(
  executor: Executor,
  { skillId, ...request }: PageRequest & { skillId: string },
): Promise<Page<SkillVersionRow>> {
  return readPage(request, "version", ofSkill(executor, skillId));
}

export async function listSkills(
  executor: Executor,
  { projectId, ...request }: PageRequest & { projectId: string },
): Promise<Page<ShownSkill>> {
  const scope = executor.selectFrom("skills").selectAll().where("projectId", "=", projectId);
  const { entries, hasMore } = await readPage(request, "createdAt", scope);
  return { entries: await withVersions(executor, entries), hasMore };
}

/** Adds the default version and the number of the latest one. */
export async function withVersions(executor: Executor, rows: readonly SkillRow[]): Promise<ShownSkill[]> {
  if (rows.length === 0) return [];
  const ids = rows.map(({ id }) => id);
  const defaults = await executor
    .selectFrom("skillVersions")
    .innerJoin("skills", "skills.id", "skillVersions.skillId")
    .select(["skillVersions.skillId", "skillVersions.name", "skillVersions.description", "skillVersions.version"])
    .whereRef("skillVersions.version", "=", "skills.defaultVersion")
    .where("skills.id", "in", ids)
    .execute();
  const latest = await executor
    .selectFrom("skillVersions")
    .select(["skillId", ({ fn }) => fn.max<number>("version").as("version")])
    .where("skillId", "in", ids)
    .groupBy("skillId")
    .execute();
  const shown = new Map(defaults.map((each) => [each.skillId, each]));
  const last = new Map(latest.map((each) => [each.skillId, Number(each.version)]));
  return rows.flatMap(({ id, createdAt, defaultVersion }) => {
    const version = shown.get(id);
    return version === undefined
      ? []
      : [{ id, createdAt, latestVersion: last.get(id) ?? defaultVersion, shown: version }];
  });
}

/** Sums the bytes of a project's bundles, those that are being stored included. */
export async function sumBundleBytes(executor: Executor, projectId: string): Promise<number> {
  const sum = executor.selectFrom("skillVersions").select(({ fn }) => fn.sum<number | string>("bytes").as("bytes"));
  const row = await sum.where("projectId", "=", projectId).executeTakeFirst();
  // PostgreSQL returns sums as text.
  return Number(row?.bytes ?? 0);
}

/**
 * Takes versions out of their skill, so that nothing finds them any more. Retention deletes what a crash leaves: their
 * time is that of an upload abandoned long ago.
 */
export async function withdrawVersions(executor: Executor, skillId: string, id?: string): Promise<void> {
  const update = executor.updateTable("skillVersions").set({ version: 0, createdAt: 0 }).where("skillId", "=", skillId);
  await (id === undefined ? update.where("version", ">", 0) : update.where("id", "=", id)).execute();
}

export async function listWithdrawnVersions(executor: Executor, skillId: string): Promise<SkillVersionRow[]> {
  const query = executor.selectFrom("skillVersions").selectAll().where("skillId", "=", skillId);
  return query.where("version", "=", 0).where("createdAt", "=", 0).execute();
}

export async function deleteVersion(executor: Executor, id: string): Promise<void> {
  await executor.deleteFrom("skillVersions").where("id", "=", id).execute();
}

export async function deleteSkill(executor: Executor, id: string): Promise<void> {
  await executor.deleteFrom("skills").where("id", "=", id).execute();
}

/** Returns at most `max` versions that were withdrawn, never stored, or are of an archived project. */
export async function listRemovableVersions(
  executor: Executor,
  { abandonedBefore, max }: { abandonedBefore: number; max: number },
): Promise<SkillVersionRow[]> {
  return executor
    .selectFrom("skillVersions")
    .selectAll()
    .where(({ eb, or, and }) =>
      or([
        and([eb("version", "=", 0), eb("createdAt", "<", abandonedBefore)]),
        eb("projectId", "in", archivedProjects(executor)),
      ]),
    )
    .limit(max)
    .execute();
}

export async function deleteSkillsOfArchivedProjects(executor: Executor): Promise<void> {
  await executor.deleteFrom("skills").where("projectId", "in", archivedProjects(executor)).execute();
}

function archivedProjects(executor: Executor) {
  return executor.selectFrom("projects").select("id").where("archivedAt", "is not", null);
}

function ofSkill(executor: Executor, skillId: string) {
  return executor.selectFrom("skillVersions").selectAll().where("skillId", "=", skillId).where("version", ">", 0);
}
