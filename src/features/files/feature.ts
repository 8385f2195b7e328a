import type { Inference } from "../../inference/inference.ts";
import { OutgoingGuard } from "../../kernel/outgoing/outgoing-guard.ts";
import type { Feature, FeatureParts, RouteParts } from "../feature.ts";
import type { BlobStore } from "./blob-store.ts";
import { ContentResolver } from "./content-resolver.ts";
import { fileRetention } from "./file-retention.ts";
import { FileStore } from "./file-store.ts";
import { LocalBlobs } from "./local-blobs.ts";
import { type FileParts, files as routes } from "./routes.ts";
import { S3Blobs } from "./s3-blobs.ts";

export interface OpenFiles {
  blobs: BlobStore;
  files: FileStore;
  /** Reads what requests refer to. */
  resolver: ContentResolver;
}

/** Opens the store of uploaded files. Throws a Fault when the folder or the bucket cannot be used. */
export async function openFiles(
  { config, database, logger, lifetime }: FeatureParts,
  inference: Inference,
): Promise<OpenFiles> {
  const { s3, directory, ...limits } = config.files;
  const { upstreamUrls: policy, maxBodyBytes: maxBytes } = config.server;
  const blobs = s3 === undefined ? new LocalBlobs(directory) : new S3Blobs(s3);
  await blobs.check();
  const files = new FileStore({ database, blobs, ...limits });
  lifetime.use(fileRetention({ database, files, logger }));
  const guard = new OutgoingGuard({ reach: "public" });
  lifetime.defer(() => guard.close());
  return { blobs, files, resolver: new ContentResolver({ inference, files, policy, guard, maxBytes }) };
}

interface FileFeatureParts extends Pick<OpenFiles, "files">, Pick<FileParts, "checkUnused"> {
  /** Folder for uploads. */
  directory: string;
}

/** The Files API. */
export function fileFeature({ config, inference }: RouteParts, parts: FileFeatureParts): Feature {
  const { files, directory, checkUnused } = parts;
  return {
    project: [routes(inference, { files, uploads: { directory, maxBytes: config.files.maxFileSize }, checkUnused })],
  };
}
