/** Models as one tar file, which carries them to a machine without a network: a folder for each, with its record. */

import { mkdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { Fault, invalidRequest } from "../kernel/faults.ts";
import { lock } from "../kernel/process/file-lock.ts";
import { diskFull, ensureFreeSpace, freeBytesIn, isDiskFullError } from "./free-space.ts";
import { hashFile } from "./hash-file.ts";
import { type ModelRecord, RECORD_NAME, readRecord, writeRecord } from "./model-record.ts";
import type { StoreFolders } from "./store-folders.ts";
import { listRecords, verifyFiles } from "./stored-models.ts";
import { markVerified } from "./verified-files.ts";
import type { WantedModel } from "./wanted-model.ts";

const SCRATCH = "import";

/** Writes stored models to `file`. Throws a Fault for one that is not stored, or whose files have changed. */
export async function exportModels(
  folders: StoreFolders,
  models: readonly WantedModel[],
  file: string,
  signal: AbortSignal,
): Promise<void> {
  const paths: string[] = [];
  for (const { id, folder } of models) {
    const [problem] = await verifyFiles(join(folders.root, folder), id, signal);
    if (problem !== undefined) throw new Fault("unavailable", `${id}: ${problem} Pull it again.`);
    const { files } = (await readRecord(join(folders.root, folder))) as ModelRecord;
    for (const name of [RECORD_NAME, ...files.map((each) => each.name)]) paths.push(`${folder}/${name}`);
  }
  // The same models give the same bytes, whoever exports them.
  const { create } = await import("tar");
  await create({ cwd: folders.root, file: `${file}.new`, portable: true, mtime: new Date(0) }, paths);
  await rename(`${file}.new`, file);
}

/**
 * Brings the models of `file` into the store, each complete or not at all, and resolves with their IDs. Files must have the
 * hashes of the built-in manifest, those of other models the ones of their records. Throws a Fault for another file, and
 * when the disk is full.
 */
export async function importModels(
  folders: StoreFolders,
  file: string,
  find: (id: string) => WantedModel,
  signal: AbortSignal,
): Promise<string[]> {
  const { size } = await stat(file).catch(() => {
    throw invalidRequest(`${file} cannot be read.`, "file");
  });
  await mkdir(folders.temporaryRoot, { recursive: true });
  await ensureFreeSpace(folders.root, size);
  // Pulls remove temporary folders whose lock nobody holds.
  const fileLock = await lock(await folders.lockPathByName(SCRATCH), signal, () => {});
  const scratch = join(folders.temporaryRoot, SCRATCH);
  try {
    await unpack(file, scratch);
    const ids: string[] = [];
    for await (const { record, folder } of listRecords(scratch)) {
      await place(record, folder, { wanted: find(record.id), folders, signal });
      ids.push(record.id);
    }
    if (ids.length === 0) throw notExported(file);
    return ids;
  } catch (error) {
    if (isDiskFullError(error)) throw diskFull(folders.root, size, await freeBytesIn(folders.root), error);
    throw error;
  } finally {
    await rm(scratch, { recursive: true, force: true });
    fileLock.release();
  }
}

async function unpack(file: string, folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder);
  try {
    const { extract } = await import("tar");
    await extract({ file, cwd: folder, strict: true, filter: (_path, entry) => isPlainFile(entry) });
  } catch (error) {
    throw isDiskFullError(error) ? error : notExported(file);
  }
}

/** Links could point out of the folder, and devices are no models. */
function isPlainFile(entry: object): boolean {
  return "type" in entry && (entry.type === "File" || entry.type === "OldFile");
}

interface Placing {
  wanted: WantedModel;
  folders: StoreFolders;
  signal: AbortSignal;
}

async function place(record: ModelRecord, from: string, { wanted, folders, signal }: Placing): Promise<void> {
  const missing = wanted.files.find(({ name }) => !record.files.some((each) => each.name === name));
  if (missing !== undefined) throw invalidRequest(`${record.id} lacks ${missing.name}: export it again.`, "file");
  for (const { name, sha256 } of record.files) {
    const expected = wanted.files.find((each) => each.name === name)?.sha256 ?? sha256;
    const hash = await hashFile(join(from, name), signal).catch(() => undefined);
    if (hash?.digest("hex") === expected) continue;
    throw invalidRequest(`${name} of ${record.id} is not the file with SHA-256 ${expected}: export it again.`, "file");
  }
  const folder = folders.modelFolder(wanted);
  const fileLock = await lock(await folders.lockPath(wanted), signal, () => {});
  try {
    await mkdir(folder, { recursive: true });
    for (const { name } of record.files) await rename(join(from, name), join(folder, name));
    await writeRecord(folder, record);
    await markVerified(folder, record);
  } finally {
    fileLock.release();
  }
}

function notExported(file: string): Fault {
  return invalidRequest(`${file} is not a complete file of \`parlance models export\`.`, "file");
}
