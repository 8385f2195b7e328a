/** Hashes the files of a stored model once per change: a note beside them holds the size and times that were verified. */

import { readFile, rename, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { hashFile } from "./hash-file.ts";
import type { ModelRecord } from "./model-record.ts";

export const VERIFIED_NAME = "parlance-model.verified.json";

/** Size, modification and change time of each verified file. A copy that keeps the modification time changes the other. */
const verifiedSchema = z.record(z.string(), z.string());
type Verified = z.infer<typeof verifiedSchema>;

/** Notes, without hashing, that the files are those of the record. */
export async function markVerified(folder: string, record: ModelRecord): Promise<void> {
  const stamps = record.files.map(async ({ name, sha256 }) => [name, await stampOf(folder, name, sha256)] as const);
  await write(folder, Object.fromEntries(await Promise.all(stamps)));
}

/**
 * Returns the names of files whose SHA-256 differs from the record's. Hashes only files that have changed since they were
 * last verified. Throws the signal's reason on abort.
 */
export async function changedFiles(folder: string, record: ModelRecord, signal: AbortSignal): Promise<string[]> {
  const previous = await read(folder);
  const verified: Verified = {};
  const changed: string[] = [];
  for (const { name, sha256 } of record.files) {
    const stamp = await stampOf(folder, name, sha256);
    if (previous[name] === stamp || (await hashFile(join(folder, name), signal)).digest("hex") === sha256) {
      verified[name] = stamp;
    } else {
      changed.push(name);
    }
  }
  if (Object.keys(verified).some((name) => previous[name] !== verified[name])) await write(folder, verified);
  return changed;
}

async function stampOf(folder: string, name: string, sha256: string): Promise<string> {
  const { size, mtimeNs, ctimeNs } = await stat(join(folder, name), { bigint: true });
  return `${sha256} ${size} ${mtimeNs} ${ctimeNs}`;
}

async function read(folder: string): Promise<Verified> {
  try {
    return verifiedSchema.parse(JSON.parse(await readFile(join(folder, VERIFIED_NAME), "utf8")));
  } catch {
    return {};
  }
}

/** Does nothing where the folder is read-only: the files are then hashed whenever they are opened. */
async function write(folder: string, verified: Verified): Promise<void> {
  const path = join(folder, VERIFIED_NAME);
  try {
    await writeFile(`${path}.${process.pid}`, `${JSON.stringify(verified, undefined, 2)}\n`);
    await rename(`${path}.${process.pid}`, path);
  } catch {
    // The cache only saves time.
  }
}
