/** One pull of one model: takes the lock, downloads into temporary files, verifies and moves them into place. */

import { mkdir, readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { DAY_MS } from "../kernel/durations.ts";
import type { Logger } from "../kernel/logger.ts";
import { lock, tryLock } from "../kernel/process/file-lock.ts";
import type { FileFetcher } from "./fetch-file.ts";
import { diskFull, ensureFreeSpace, freeBytesIn, isDiskFullError } from "./free-space.ts";
import { hashFile } from "./hash-file.ts";
import type { ManifestFile } from "./manifest/manifest-entry.ts";
import { type RecordedFile, readRecord, sizeOf, writeRecord } from "./model-record.ts";
import type { ProgressListener, PullProgress } from "./pull-progress.ts";
import type { StoreFolders } from "./store-folders.ts";
import { markVerified } from "./verified-files.ts";
import type { WantedModel } from "./wanted-model.ts";

export interface ModelPull {
  wanted: WantedModel;
  folders: StoreFolders;
  fetcher: FileFetcher;
  logger: Logger;
  isStored(): Promise<boolean>;
  signal: AbortSignal;
  spareDiskBytes: number;
  onProgress: ProgressListener;
}

/** Time for which an unfinished download is kept for resuming. */
const KEEP_UNFINISHED_MS = 7 * DAY_MS;

/** Resolves once the files and their record are in place, whichever process downloaded them. */
export async function pullModel(pull: ModelPull): Promise<void> {
  const { wanted, folders, signal } = pull;
  const idle: PullProgress = {
    model: wanted.id,
    file: wanted.files[0]?.name ?? "",
    phase: "waiting",
    source: undefined,
    receivedBytes: 0,
    totalBytes: undefined,
    completedBytes: 0,
    modelBytes: sizeOfAll(wanted.files),
  };
  try {
    const fileLock = await lock(await folders.lockPath(wanted), signal, () => pull.onProgress(idle));
    try {
      // The previous holder of the lock may have downloaded it.
      if (!(await pull.isStored())) await bring(pull);
    } finally {
      fileLock.release();
    }
    const record = await readRecord(folders.modelFolder(wanted));
    pull.onProgress({ ...idle, phase: "stored", completedBytes: sizeOfAll(record?.files ?? []) ?? 0 });
  } catch (error) {
    if (!signal.aborted) pull.onProgress({ ...idle, phase: "failed" });
    throw error;
  }
}

async function bring(pull: ModelPull): Promise<void> {
  const { wanted, folders, logger } = pull;
  const temporary = folders.temporary(wanted);
  const scratch = join(temporary, "scratch");
  const unfinished = join(temporary, "unfinished");
  const folder = folders.modelFolder(wanted);
  const startedAt = Date.now();
  try {
    await rm(scratch, { recursive: true, force: true });
    await Promise.all([scratch, unfinished, folder].map((each) => mkdir(each, { recursive: true })));
    await removeDeadPulls(folders);
    const files: RecordedFile[] = [];
    for (const file of wanted.files) {
      const completedBytes = sizeOfAll(files) ?? 0;
      files.push(await bringFile(file, pull, { scratch, unfinished, folder, completedBytes }));
    }
    const { id, task, license } = wanted;
    const record = { id, task, license, pulledAt: new Date().toISOString(), files };
    await writeRecord(folder, record);
    await markVerified(folder, record);
    await rm(temporary, { recursive: true, force: true });
    logger.info({ model: id, from: files[0]?.source, seconds: (Date.now() - startedAt) / 1000 }, "model pulled");
  } catch (error) {
    await rm(scratch, { recursive: true, force: true });
    if (isDiskFullError(error)) throw diskFull(folder, undefined, await freeBytesIn(folder), error);
    throw error;
  }
}

interface FilePull {
  scratch: string;
  unfinished: string;
  folder: string;
  completedBytes: number;
}

/** Returns undefined if the size of a file is unknown. */
function sizeOfAll(files: readonly { bytes?: number }[]): number | undefined {
  return files.reduce<number | undefined>(
    (sum, { bytes }) => (sum === undefined || bytes === undefined ? undefined : sum + bytes),
    0,
  );
}

async function bringFile(file: ManifestFile, pull: ModelPull, folders: FilePull): Promise<RecordedFile> {
  const { wanted, fetcher, signal } = pull;
  const path = join(folders.folder, file.name);
  const resumed = await keptFrom(file, folders.folder, signal);
  if (resumed !== undefined) return resumed;
  if (file.bytes !== undefined) {
    const there = (await sizeOf(join(folders.unfinished, file.name))) ?? 0;
    await ensureFreeSpace(folders.folder, Math.max(0, file.bytes - there) + pull.spareDiskBytes);
  }
  const fetched = await fetcher.fetch({
    file,
    unfinishedDirectory: folders.unfinished,
    scratchDirectory: folders.scratch,
    signal,
    onProgress: (source, receivedBytes, totalBytes) =>
      pull.onProgress({
        model: wanted.id,
        file: file.name,
        phase: "fetching",
        source,
        receivedBytes,
        totalBytes,
        completedBytes: folders.completedBytes,
        modelBytes: sizeOfAll(wanted.files) ?? (wanted.files.length === 1 ? totalBytes : undefined),
      }),
  });
  await rename(fetched.path, path);
  return { name: file.name, bytes: fetched.bytes, sha256: fetched.sha256, source: fetched.from };
}

/** Returns a file of an earlier pull if it is the right one. */
async function keptFrom(file: ManifestFile, folder: string, signal: AbortSignal): Promise<RecordedFile | undefined> {
  const path = join(folder, file.name);
  const recorded = (await readRecord(folder))?.files.find(({ name }) => name === file.name);
  const expected = file.sha256 ?? recorded?.sha256;
  const bytes = await sizeOf(path);
  if (expected === undefined || bytes === undefined || bytes !== (file.bytes ?? recorded?.bytes)) return undefined;
  if ((await hashFile(path, signal)).digest("hex") !== expected) return undefined;
  return { name: file.name, bytes, sha256: expected, source: recorded?.source ?? "found in the store" };
}

/** Removes temporary files of dead processes; a live one holds the lock. Resumable downloads stay a week. */
async function removeDeadPulls(folders: StoreFolders): Promise<void> {
  for (const name of await readdir(folders.temporaryRoot)) {
    const fileLock = tryLock(await folders.lockPathByName(name));
    if (fileLock === undefined) continue;
    try {
      const temporary = join(folders.temporaryRoot, name);
      await rm(join(temporary, "scratch"), { recursive: true, force: true });
      const unfinished = join(temporary, "unfinished");
      const changed = await lastChange(unfinished);
      if (changed === undefined || Date.now() - changed > KEEP_UNFINISHED_MS) {
        await rm(temporary, { recursive: true, force: true });
      }
    } finally {
      fileLock.release();
    }
  }
}

/** Returns epoch milliseconds; undefined when the folder is missing or empty. */
async function lastChange(folder: string): Promise<number | undefined> {
  const names = await readdir(folder).catch(() => []);
  const times = await Promise.all(names.map(async (name) => (await stat(join(folder, name))).mtimeMs));
  return times.length === 0 ? undefined : Math.max(...times);
}
