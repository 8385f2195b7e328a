import { DAY_MS } from "../../kernel/durations.ts";
import { Retention } from "../../kernel/jobs/retention.ts";
import type { Logger } from "../../kernel/logger.ts";
import type { Database } from "../../storage/database.ts";
import type { BlobStore } from "../files/index.ts";
import { removeVersion } from "./remove-version.ts";
import { deleteSkillsOfArchivedProjects, listRemovableVersions } from "./skill-queries.ts";

export interface SkillRetentionOptions {
  database: Database;
  blobs: BlobStore;
  logger: Logger;
}

const INTERVAL_MS = 600_000;
/** No upload takes this long. */
const ABANDONED_AFTER_MS = 2 * DAY_MS;
const REMOVED_AT_ONCE = 100;

/** Deletes abandoned uploads, what a crash left of deleted versions, and the skills of archived projects. */
export function skillRetention({ database, blobs, logger }: SkillRetentionOptions): Retention {
  const removeSome = async (now: number) => {
    await database.run(deleteSkillsOfArchivedProjects);
    const bounds = { abandonedBefore: now - ABANDONED_AFTER_MS, max: REMOVED_AT_ONCE };
    const removable = await database.run((executor) => listRemovableVersions(executor, bounds));
    for (const version of removable) await removeVersion(database, blobs, version);
    return removable.length;
  };
  return new Retention({ subject: "skills", logger, intervalMs: INTERVAL_MS, steps: [removeSome] });
}
