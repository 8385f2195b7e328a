import { glob, rm, rmdir } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import type { Task } from "../contracts/task.ts";
import { Fault } from "../kernel/faults.ts";
import { hashFile } from "./hash-file.ts";
import type { ManifestEntry } from "./manifest/manifest-entry.ts";
import { damagedFiles, type ModelRecord, RECORD_NAME, readRecord, sizeOf } from "./model-record.ts";
import type { StoreFolders } from "./store-folders.ts";
import { VERIFIED_NAME } from "./verified-files.ts";

export interface StoredModel {
  /** ID for `pull` and `remove`: a manifest ID, or `hf:owner/repo/path`. */
  id: string;
  /** Undefined for a file outside the manifest. */
  task: Task | undefined;
  /** Total size of its files. */
  bytes: number;
  /** Undefined when it did not come from the hub. */
  license: string | undefined;
  /** Source of the first file, for display. */
  source: string;
  pulledAt: Date;
  /** Absolute path of the first file. */
  path: string;
  /** False when a file is missing or has another size, which the next use downloads again. */
  isIntact: boolean;
}

export async function listModels(folders: StoreFolders, manifest: readonly ManifestEntry[]): Promise<StoredModel[]> {
  const models: StoredModel[] = [];
  for await (const { folder, record } of listRecords(folders.root)) models.push(await describe(folder, record));
  const rank = new Map(manifest.map(({ id }, index) => [id, index]));
  const place = ({ id }: StoredModel) => rank.get(id) ?? manifest.length;
  return models.sort((a, b) => place(a) - place(b) || a.id.localeCompare(b.id));
}

/** Yields the readable records below `root`, with their folders. */
export async function* listRecords(root: string): AsyncGenerator<{ folder: string; record: ModelRecord }> {
  for await (const path of glob(`**/${RECORD_NAME}`, { cwd: root })) {
    const folder = join(root, dirname(path));
    const record = await readRecord(folder);
    if (record !== undefined) yield { folder, record };
  }
}

async function describe(folder: string, record: ModelRecord): Promise<StoredModel> {
  const [first] = record.files;
  return {
    id: record.id,
    task: record.task,
    bytes: record.files.reduce((sum, { bytes }) => sum + bytes, 0),
    license: record.license,
    source: first?.source ?? "",
    pulledAt: new Date(record.pulledAt),
    path: join(folder, first?.name ?? ""),
    isIntact: (await damagedFiles(folder, record)).length === 0,
  };
}

/** Returns a sentence for each file that has changed since the pull. */
export async function verifyFiles(folder: string, id: string, signal: AbortSignal): Promise<string[]> {
  const record = await readRecord(folder);
  if (record === undefined) throw new Fault("not-found", `${id} is not in the model store.`);
  const sentences: string[] = [];
  for (const { name, bytes, sha256 } of record.files) {
    const path = join(folder, name);
    const size = await sizeOf(path);
    if (size === undefined) {
      sentences.push(`${name} is missing.`);
    } else if (size !== bytes) {
      sentences.push(`${name}: expected ${bytes} bytes, found ${size}.`);
    } else {
      const digest = (await hashFile(path, signal)).digest("hex");
      if (digest !== sha256) sentences.push(`${name}: expected SHA-256 ${sha256}, found ${digest}.`);
    }
  }
  return sentences;
}

/** Removes a model's files and the folders that become empty. */
export async function removeFiles(folders: StoreFolders, folder: string): Promise<void> {
  const record = await readRecord(folder);
  for (const name of [RECORD_NAME, VERIFIED_NAME]) await rm(join(folder, name), { force: true });
  for (const { name } of record?.files ?? []) await rm(join(folder, name), { force: true });
  for (let empty = folder; relative(folders.root, empty) !== ""; empty = dirname(empty)) {
    try {
      await rmdir(empty);
    } catch {
      // Not empty: the folder contains another model.
      return;
    }
  }
}
