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
    let declaredBytes = 0;
    for await (const entry of archive.eachEntry()) {
      declaredBytes += entry.uncompressedSize;
      const file = await readEntry(archive, entry, declaredBytes);
      if (file !== undefined) yield file;
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

/** Returns undefined for a folder, and for what macOS adds. */
async function readEntry(archive: ZipFile, entry: Entry, declaredBytes: number): Promise<BundleFile | undefined> {
  const { fileName, uncompressedSize } = entry;
  const mode = entry.externalFileAttributes >>> 16;
  const type = mode & TYPE_MASK;
  const isFolder = fileName.endsWith("/");
  const path = checkPath(isFolder ? fileName.slice(0, -1) : fileName);
  if (type !== 0 && type !== (isFolder ? FOLDER : REGULAR_FILE)) {
    throw new BundleError(`${shown(path)} is a link, or another thing than a file or folder.`);
  }
  checkSizes(path, uncompressedSize, declaredBytes);
  if (isFolder || SYSTEM_FILES.test(path)) return undefined;
  if (entry.isEncrypted()) throw new BundleError(`The file ${shown(path)} is encrypted.`);
  // Ends at the declared size: yauzl refuses a byte more.
  const content = await buffer(await archive.openReadStreamPromise(entry));
  if (crc32(content) !== entry.crc32) throw new BundleError(`The file ${shown(path)} is damaged.`);
  return { path, content, isExecutable: (mode & EXECUTABLE) !== 0 };
}
