import type { Database, Executor } from "../../storage/database.ts";
import type { BlobStore } from "../files/index.ts";
import {
  deleteSkill,
  deleteVersion,
  findLatestVersion,
  findVersion,
  lockSkill,
  updateSkill,
  withdrawVersions,
} from "./skill-queries.ts";
import type { SkillVersionRow } from "./skill-rows.ts";

/** Key of a bundle in the blob store. */
export function bundleOf({ skillId, id }: Pick<SkillVersionRow, "skillId" | "id">): string {
  return `skills/${skillId}/${id}`;
}

/** Takes a version out of its skill: the latest one that remains replaces it as the default; without one, the skill ends. */
export async function withdrawVersion(executor: Executor, { id, skillId, projectId }: SkillVersionRow): Promise<void> {
  const skill = await lockSkill(executor, { projectId, id: skillId });
  await withdrawVersions(executor, skillId, id);
  if (skill === undefined || (await findVersion(executor, skillId, skill.defaultVersion)) !== undefined) return;
  const latest = await findLatestVersion(executor, skillId);
  if (latest === undefined) await deleteSkill(executor, skillId);
  else await updateSkill(executor, skillId, { defaultVersion: latest.version });
}

/** Deletes the bundle of a version that was withdrawn, and then its row, by which retention finds the bundle. */
export async function removeVersion(database: Database, blobs: BlobStore, version: SkillVersionRow): Promise<void> {
  await blobs.delete(bundleOf(version));
  await database.run((executor) => deleteVersion(executor, version.id));
}
