import { join } from "node:path";
import type { EngineServices } from "../../contracts/engine.ts";
import type { BodyMemory } from "../../http/body-memory.ts";
import type { Feature } from "../../http/feature.ts";
import { prepareUploads } from "../../http/upload.ts";
import type { Inference } from "../../inference/inference.ts";
import type { Logger } from "../../kernel/logger.ts";
import { OutgoingGuard } from "../../kernel/outgoing/outgoing-guard.ts";
import type { Settings } from "../../kernel/settings/settings.ts";
import type { Database } from "../../storage/database.ts";
import type { MediaKind } from "../../wire/media-parts.ts";
import { withTextFiles } from "../../wire/text-files.ts";
import { Recordings } from "../audio/index.ts";
import { type BodyContent, ContentResolver } from "./content-resolver.ts";
import { DocumentTexts } from "./document-texts.ts";
import { fileRetention } from "./file-retention.ts";
import type { FileStorage } from "./file-storage.ts";
import { FileStore } from "./file-store.ts";
import { LocalBlobs } from "./local-blobs.ts";
import { MediaTexts } from "./media-texts.ts";
import { files as routes } from "./routes.ts";
import { S3Blobs } from "./s3-blobs.ts";

const NO_MEDIA = { hasFiles: false, hasImages: false };
const FILE_KINDS: readonly MediaKind[] = ["document", "audio"];
const IMAGE_KINDS: readonly MediaKind[] = ["image"];

interface FilesParts {
  config: Settings;
  database: Database;
  logger: Logger;
  lifetime: AsyncDisposableStack;
  inference: Inference;
  store: Pick<EngineServices, "findPulled">;
}

interface OpenFilesParts {
  config: Settings;
  database: Database;
  inference: Inference;
  files: FileStorage;
}

/** Opens the store of files in the configured directory or bucket, without a check that it can be used. */
export function openFileStore({ files }: Pick<Settings, "files">, database: Database): FileStore {
  const { s3, directory, ...limits } = files;
  const blobs = s3 === undefined ? new LocalBlobs(directory) : new S3Blobs(s3);
  return new FileStore({ database, blobs, ...limits });
}

/** Opens the store of uploaded files. Throws a Fault when the folder or the bucket cannot be used. */
export async function openFiles(
  { config, database, logger, lifetime, inference, store }: FilesParts,
  memory: BodyMemory,
): Promise<{ files: FileStorage; content: BodyContent }> {
  const directory = join(config.dataDirectory, "uploads");
  await prepareUploads(directory);
  const { upstreamUrls: policy, maxBodyBytes: maxBytes, ffmpeg, maxAudioSeconds, ...limits } = config.server;
  const files = openFileStore(config, database);
  const { blobs } = files;
  await blobs.check();
  lifetime.use(fileRetention({ database, files, logger }));
  const guard = new OutgoingGuard({ reach: "public" });
  lifetime.defer(() => guard.close());
  const resolver = new ContentResolver({ inference, files, policy, guard, maxBytes, memory });
  const recordings = lifetime.use(new Recordings({ inference, directory, ffmpeg, maxAudioSeconds }));
  const documents = new DocumentTexts({ store, ...limits });
  const media = new MediaTexts(recordings, documents);
  const content: BodyContent = (reply, body, fields, { task = "chat", isCounted = false } = {}) => {
    const { caller, record } = reply.request;
    const count = async () => {
      record.counted ??= await inference.countEarly(caller, body.model, task);
    };
    const admit = isCounted ? undefined : count;
    // No guardrail reads a file as such, and a model behind one gets only what they have read.
    const isGuarded = body.model !== undefined && inference.readsTextsOnly(caller, body.model);
    const { hasFiles, hasImages } = task === "moderation" ? NO_MEDIA : media.mediaIn(body, fields);
    const readsTexts = hasFiles && (isGuarded || !inference.models.mayForwardMedia(caller, body.model));
    const mayReadImages = hasImages && inference.models.isBlind(caller, body.model);
    if (!isGuarded && !readsTexts && !mayReadImages) return resolver.inBody(reply, body, fields, { task, admit });
    return (async () => {
      const readsImages = mayReadImages && (await documents.recognizes());
      const resolved = await resolver.inBody(reply, body, fields, { task, readsTexts, readsImages, admit });
      const complete = isGuarded || readsTexts ? withTextFilesIn(resolved, fields) : resolved;
      const kinds = new Set<MediaKind>([...(readsTexts ? FILE_KINDS : []), ...(readsImages ? IMAGE_KINDS : [])]);
      if (kinds.size === 0) return complete;
      await admit?.();
      return media.inBody(reply, complete, fields, kinds);
    })();
  };
  return { files: { blobs, files, resolver, documents, directory }, content };
}

function withTextFilesIn<Body extends object>(body: Body, fields: readonly (keyof Body & string)[]): Body {
  const replaced = { ...body };
  for (const field of fields) replaced[field] = withTextFiles(body[field]);
  return replaced;
}

/** The Files API. */
export function fileFeature({ config, files: { files, directory } }: OpenFilesParts): Feature {
  const uploads = { directory, maxBytes: config.files.maxFileSize };
  return {
    project: [routes({ files, uploads })],
  };
}
