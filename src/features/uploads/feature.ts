import type { Feature } from "../../http/feature.ts";
import { MINUTE_MS } from "../../kernel/durations.ts";
import { Retention } from "../../kernel/jobs/retention.ts";
import type { Logger } from "../../kernel/logger.ts";
import type { Settings } from "../../kernel/settings/settings.ts";
import type { Database } from "../../storage/database.ts";
import type { FileStorage } from "../files/index.ts";
import { uploadRoutes } from "./routes.ts";
import { listRemovableUploads } from "./upload-queries.ts";
import { Uploads } from "./uploads.ts";

interface UploadsParts {
  config: Settings;
  database: Database;
  logger: Logger;
  lifetime: AsyncDisposableStack;
  files: FileStorage;
}

const INTERVAL_MS = 10 * MINUTE_MS;
const REMOVED_AT_ONCE = 100;

/** Uploads of large files in parts. */
export function uploadFeature({ config, database, logger, lifetime, files }: UploadsParts): Feature {
  const { maxFileSize } = config.files;
  const { directory } = files;
  const uploads = new Uploads({ database, files: files.files, directory, maxFileSize });
  const removeSome = async (now: number) => {
    const removable = await database.run((executor) => listRemovableUploads(executor, now, REMOVED_AT_ONCE));
    for (const upload of removable) await uploads.remove(upload);
    return removable.length;
  };
  lifetime.use(new Retention({ subject: "uploads", logger, intervalMs: INTERVAL_MS, steps: [removeSome] }));
  return { project: [uploadRoutes(uploads, { directory, maxBytes: maxFileSize })] };
}
