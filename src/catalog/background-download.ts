/** Downloads the default chat model after the start, when a smaller one already answers. */

import type { Backoff } from "../kernel/async/backoff.ts";
import { retry } from "../kernel/async/retry.ts";
import { HOUR_MS, MINUTE_MS } from "../kernel/durations.ts";
import { Fault } from "../kernel/faults.ts";
import type { Logger } from "../kernel/logger.ts";
import type { Settings } from "../kernel/settings/settings.ts";
import type { ManifestEntry } from "../model-store/manifest/manifest-entry.ts";
import type { ModelStore } from "../model-store/model-store.ts";
import type { ProgressListener } from "../model-store/pull-progress.ts";
import { chatModelToDownload } from "./default-chat-model.ts";

export interface BackgroundDownloadOptions {
  config: Settings;
  store: ModelStore;
  memory: { freeBytes: number; budgetBytes: number };
  /** Adds the downloaded model to the catalog. */
  refresh: () => Promise<void>;
  onProgress: ProgressListener;
  logger: Logger;
  /** Backoff of retries. Default: a minute, doubled up to an hour. */
  backoff?: Backoff;
}

export interface DownloadListener {
  /** Called before the first byte. */
  onBegin(model: { id: string; bytes: number }): void;
  /** Called after the first failure; later ones are only logged, and nobody has to act: a smaller model answers. */
  onFailure(id: string, reason: string): void;
}

/** A download that nobody asked for must not fill the disk. */
const SPARE_DISK_BYTES = 1e9;
const BACKOFF = { initial: MINUTE_MS, max: HOUR_MS };

/**
 * Resolves with the ID of the downloaded model; undefined: none was to be downloaded. An interrupted download resumes,
 * also after a restart. Throws the signal's reason on abort.
 */
export async function downloadDefaultChatModel(
  { config, store, memory, refresh, onProgress, logger, backoff = BACKOFF }: BackgroundDownloadOptions,
  { onBegin, onFailure }: DownloadListener,
  signal: AbortSignal,
): Promise<string | undefined> {
  const pulled = new Set((await store.list()).map(({ id }) => id));
  const model = chatModelToDownload(config, pulled, store.manifest, memory);
  if (model === undefined) return undefined;
  const bytes = sizeOf(model);
  logger.info({ model: model.id, bytes }, "downloading the default chat model in the background");
  onBegin({ id: model.id, bytes });
  let hasFailed = false;
  /** Attempts that bring nothing are silent after the first one. */
  const onProgressOf: ProgressListener = (progress) => {
    if (!hasFailed || (progress.phase !== "failed" && progress.receivedBytes > 0)) onProgress(progress);
  };
  const download = async () => {
    await store.pull({ model: model.id }, { signal, onProgress: onProgressOf, spareDiskBytes: SPARE_DISK_BYTES });
    await refresh();
  };
  const onRetry = (failure: unknown, failures: number) => {
    const reason = failure instanceof Error ? failure.message : String(failure);
    // Such as a read-only file system; no failed download may end the service.
    const details = failure instanceof Fault ? {} : { err: failure };
    logger.info({ model: model.id, reason, ...details }, "the default chat model could not be downloaded");
    if (failures === 1) onFailure(model.id, reason);
    hasFailed = true;
  };
  await retry(download, { backoff, onRetry, signal });
  return model.id;
}

function sizeOf({ files }: ManifestEntry): number {
  return files.reduce((sum, { bytes = 0 }) => sum + bytes, 0);
}
