/** Downloads the models that suit the machine after the start, when smaller ones already answer. */

import type { Task } from "../contracts/task.ts";
import type { Backoff } from "../kernel/async/backoff.ts";
import { retry } from "../kernel/async/retry.ts";
import { HOUR_MS, MINUTE_MS } from "../kernel/durations.ts";
import { Fault } from "../kernel/faults.ts";
import type { Logger } from "../kernel/logger.ts";
import type { Settings } from "../kernel/settings/settings.ts";
import { BUNDLED_MODELS } from "../model-store/manifest/bundled-models.ts";
import type { ManifestEntry } from "../model-store/manifest/manifest-entry.ts";
import type { ModelStore } from "../model-store/model-store.ts";
import type { ProgressListener } from "../model-store/pull-progress.ts";
import { type Machine, modelsToDownload } from "./default-models.ts";

export interface BackgroundDownloadOptions {
  config: Settings;
  store: ModelStore;
  machine: Machine & { freeBytes: number };
  /** Adds the downloaded model to the catalog. */
  onDownloaded: (model: ManifestEntry) => Promise<void>;
  onProgress: ProgressListener;
  logger: Logger;
  /** Backoff of retries. Default: a minute, doubled up to an hour. */
  backoff?: Backoff;
}

export interface DownloadListener {
  /** Called before the first byte. */
  onBegin(model: { id: string; task: Task; bytes: number }): void;
  /** Called after the first failure; later ones are only logged, and nobody has to act: a smaller model answers. */
  onFailure(id: string, reason: string): void;
}

/** A download that nobody asked for must not fill the disk. */
const SPARE_DISK_BYTES = 1e9;
const BACKOFF = { initial: MINUTE_MS, max: HOUR_MS };

/**
 * Resolves with the IDs of the downloaded models. An interrupted download resumes, also after a restart. Throws the
 * signal's reason on abort.
 */
export async function downloadDefaultModels(
  options: BackgroundDownloadOptions,
  listener: DownloadListener,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { config, store, machine } = options;
  const pulled = new Set((await store.list()).map(({ id }) => id));
  const models = modelsToDownload(config, pulled, { manifest: store.manifest, bundled: BUNDLED_MODELS }, machine);
  await Promise.all(models.map((model) => download(model, options, listener, signal)));
  return models.map(({ id }) => id);
}

async function download(
  model: ManifestEntry,
  { store, onDownloaded, onProgress, logger, backoff = BACKOFF }: BackgroundDownloadOptions,
  { onBegin, onFailure }: DownloadListener,
  signal: AbortSignal,
): Promise<void> {
  const { id, task } = model;
  const bytes = sizeOf(model);
  logger.info({ model: id, bytes }, "downloading a default model in the background");
  onBegin({ id, task, bytes });
  let hasFailed = false;
  /** Attempts that bring nothing are silent after the first one. */
  const onProgressOf: ProgressListener = (progress) => {
    if (!hasFailed || (progress.phase !== "failed" && progress.receivedBytes > 0)) onProgress(progress);
  };
  const pull = async () => {
    await store.pull({ model: id }, { signal, onProgress: onProgressOf, spareDiskBytes: SPARE_DISK_BYTES });
    await onDownloaded(model);
  };
  const onRetry = (failure: unknown, failures: number) => {
    const reason = failure instanceof Error ? failure.message : String(failure);
    // Such as a read-only file system; no failed download may end the service.
    const details = failure instanceof Fault ? {} : { err: failure };
    logger.info({ model: id, reason, ...details }, "a default model could not be downloaded");
    if (failures === 1) onFailure(id, reason);
    hasFailed = true;
  };
  await retry(pull, { backoff, onRetry, signal });
}

function sizeOf({ files }: ManifestEntry): number {
  return files.reduce((sum, { bytes = 0 }) => sum + bytes, 0);
}
