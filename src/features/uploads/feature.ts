import { MINUTE_MS } from "../../kernel/durations.ts";
import { Retention } from "../../kernel/jobs/retention.ts";
import type { Feature, ServiceParts } from "../feature.ts";
import { uploadRoutes } from "./routes.ts";
import { listRemovableUploads } from "./upload-queries.ts";
import { Uploads } from "./uploads.ts";

const INTERVAL_MS = 10 * MINUTE_MS;
const REMOVED_AT_ONCE = 100;

/** Uploads of large files in parts. */
export function uploadFeature({ config, database, logger, lifetime, inference, files }: ServiceParts): Feature {
  const { maxFileSize } = config.files;
  const { directory } = files;
  const uploads = new Uploads({ database, files: files.files, directory, maxFileSize });
  const removeSome = async (now: number) => {
    const removable = await database.run((executor) => listRemovableUploads(executor, now, REMOVED_AT_ONCE));
    for (const upload of removable) await uploads.remove(upload);
    return removable.length;
  };
  lifetime.use(new Retention({ subject: "uploads", logger, intervalMs: INTERVAL_MS, steps: [removeSome] }));
  return { project: [uploadRoutes(inference, uploads, { directory, maxBytes: maxFileSize })] };
}
