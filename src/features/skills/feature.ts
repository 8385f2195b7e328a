import type { Feature } from "../../http/feature.ts";
import type { Logger } from "../../kernel/logger.ts";
import type { Settings } from "../../kernel/settings/settings.ts";
import type { Database } from "../../storage/database.ts";
import type { FileStorage } from "../files/index.ts";
import { MAX_FILES, MAX_TOTAL_BYTES } from "./bundle-limits.ts";
import { skillRoutes } from "./routes.ts";
import { sumBundleBytes } from "./skill-queries.ts";
import { skillRetention } from "./skill-retention.ts";
import { Skills } from "./skills.ts";

interface OpenSkillsParts {
  database: Database;
  logger: Logger;
  lifetime: AsyncDisposableStack;
  files: FileStorage;
}

interface SkillsParts {
  config: Settings;
  files: FileStorage;
  skills: Skills;
}

/** Opens the skills of projects, whose bundles count as files of their project. */
export function openSkills({ database, logger, lifetime, files: { files } }: OpenSkillsParts): Skills {
  files.alsoCount(sumBundleBytes);
  lifetime.use(skillRetention({ database, blobs: files.blobs, logger }));
  return new Skills(database, files);
}

/** The Skills API. */
export function skillFeature({ config, files: { files, directory }, skills }: SkillsParts): Feature {
  const maxBytes = Math.min(MAX_TOTAL_BYTES, config.files.maxFileSize);
  const uploads = { directory, maxBytes, fileFields: { files: MAX_FILES } };
  return { project: [skillRoutes({ skills, files, uploads })] };
}
