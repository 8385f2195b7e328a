import { join } from "node:path";
import type { BodyMemory } from "../../http/body-memory.ts";
import { prepareUploads } from "../../http/upload.ts";
import type { Inference } from "../../inference/inference.ts";
import { OutgoingGuard } from "../../kernel/outgoing/outgoing-guard.ts";
import type { Feature, FeatureParts, RouteParts } from "../feature.ts";
import type { BlobStore } from "./blob-store.ts";
import { type BodyContent, ContentResolver } from "./content-resolver.ts";
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
  content: BodyContent;
  /** Folder for uploads and temporary files. */
  directory: string;
}

/** Opens the store of uploaded files. Throws a Fault when the folder or the bucket cannot be used. */
export async function openFiles(
  { config, database, logger, lifetime }: FeatureParts,
  inference: Inference,
  memory: BodyMemory,
): Promise<OpenFiles> {
  const directory = join(config.dataDirectory, "uploads");
  await prepareUploads(directory);
  const { s3, directory: blobDirectory, ...limits } = config.files;
  const { upstreamUrls: policy, maxBodyBytes: maxBytes } = config.server;
  const blobs = s3 === undefined ? new LocalBlobs(blobDirectory) : new S3Blobs(s3);
  await blobs.check();
  const files = new FileStore({ database, blobs, ...limits });
  lifetime.use(fileRetention({ database, files, logger }));
  const guard = new OutgoingGuard({ reach: "public" });
  lifetime.defer(() => guard.close());
  const resolver = new ContentResolver({ inference, files, policy, guard, maxBytes });
  const content: BodyContent = (reply, body, fields, task) => resolver.inBody(reply, body, fields, { task, memory });
  return { blobs, files, resolver, content, directory };
}

/** The Files API. */
export function fileFeature(
  { config, inference }: RouteParts,
  { files, directory }: OpenFiles,
  checkUnused: FileParts["checkUnused"],
): Feature {
  return {
    project: [routes(inference, { files, uploads: { directory, maxBytes: config.files.maxFileSize }, checkUnused })],
  };
}
