/** Reads zip archives of callers, one file in memory at a time. */

import { buffer } from "node:stream/consumers";
import { crc32 } from "node:zlib";
import { type Entry, fromBufferPromise, openPromise, type ZipFile } from "yauzl";
import { BundleError, shown } from "./bundle-error.ts";
import { MAX_ENTRIES } from "./bundle-limits.ts";
import { type BundleFile, checkPath, checkSizes } from "./skill-files.ts";

/** A path, or the bytes. */
export type ZipSource = string | Uint8Array;

const OPTIONS = { strictFileNames: true, validateEntrySizes: true, autoClose: false } as const;
const TYPE_MASK = 0o170000;
const REGULAR_FILE = 0o100000;
const FOLDER = 0o040000;
const EXECUTABLE = 0o111;
/** What macOS adds beside the files of a folder. */
const SYSTEM_FILES = /(?:^|\/)(?:__MACOSX\/|\.DS_Store$)/;

/** Yields the files. Throws a BundleError for an archive that is damaged, too large, or leads elsewhere. */
export async function* filesOfZip(source: ZipSource): AsyncGenerator<BundleFile> {
  let archive: ZipFile | undefined;
  try {
    archive = await open(source);
    if (archive.entryCount > MAX_ENTRIES) throw new BundleError(`The archive has more than ${MAX_ENTRIES} entries.`);
    // An archive that declares too much is refused before anything is expanded.
    for (const { entry, path } of await listFiles(archive)) {
      // Ends at the declared size: yauzl refuses a byte more.
      const content = await buffer(await archive.openReadStreamPromise(entry));
      if (crc32(content) !== entry.crc32) throw new BundleError(`The file ${shown(path)} is damaged.`);
      yield { path, content, isExecutable: (modeOf(entry) & EXECUTABLE) !== 0 };
    }
  } catch (error) {
    if (error instanceof BundleError) throw error;
    const reason = String(error instanceof Error ? error.message : error).slice(0, 200);
    throw new BundleError(`The zip archive cannot be read: ${reason}`);
  } finally {
    archive?.close();
  }
}

function open(source: ZipSource): Promise<ZipFile> {
  if (typeof source === "string") return openPromise(source, OPTIONS);
  return fromBufferPromise(Buffer.from(source.buffer, source.byteOffset, source.byteLength), OPTIONS);
}

async function listFiles(archive: ZipFile): Promise<{ entry: Entry; path: string }[]> {
  const files: { entry: Entry; path: string }[] = [];
  let declaredBytes = 0;
  for await (const entry of archive.eachEntry()) {
    declaredBytes += entry.uncompressedSize;
    const path = pathOf(entry, declaredBytes);
    if (path !== undefined) files.push({ entry, path });
  }
  return files;
}

/** Returns undefined for a folder, and for what macOS adds. Throws a BundleError for what a skill cannot have. */
function pathOf(entry: Entry, declaredBytes: number): string | undefined {
  const { fileName, uncompressedSize } = entry;
  const type = modeOf(entry) & TYPE_MASK;
  const isFolder = fileName.endsWith("/");
  const path = checkPath(isFolder ? fileName.slice(0, -1) : fileName);
  if (type !== 0 && type !== (isFolder ? FOLDER : REGULAR_FILE)) {
    throw new BundleError(`${shown(path)} is a link, or another thing than a file or folder.`);
  }
  checkSizes(path, uncompressedSize, declaredBytes);
  if (isFolder || SYSTEM_FILES.test(path)) return undefined;
  if (entry.isEncrypted()) throw new BundleError(`The file ${shown(path)} is encrypted.`);
  return path;
}

/** Mode of a Unix system; 0 of others. */
function modeOf({ externalFileAttributes }: Entry): number {
  return externalFileAttributes >>> 16;
}
