/** Blobs as files of a folder, which replicas may share. */

import { createReadStream } from "node:fs";
import { access, chmod, constants, copyFile, mkdir, open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Fault } from "../../kernel/faults.ts";
import type { BlobStore, ByteRange } from "./blob-store.ts";

const MODE = 0o600;
const FOLDER_MODE = 0o700;

export class LocalBlobs implements BlobStore {
  readonly #directory: string;

  /** `directory`: absolute path. */
  constructor(directory: string) {
    this.#directory = directory;
  }

  async check(): Promise<void> {
    try {
      await mkdir(this.#directory, { recursive: true, mode: FOLDER_MODE });
      await access(this.#directory, constants.W_OK);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      const message = `Files cannot be stored: ${this.#directory} cannot be written (${code}). files.directory or data_directory names it.`;
      throw new Fault("invalid-request", message, { cause: error });
    }
  }

  async putFile(key: string, path: string): Promise<void> {
    const target = this.#pathOf(key);
    await mkdir(dirname(target), { recursive: true, mode: FOLDER_MODE });
    await chmod(path, MODE);
    await syncToDisk(path);
    try {
      await rename(path, target);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EXDEV") throw error;
      // Another file system: a reader must not see a part of the copy.
      const partial = `${target}.partial`;
      await copyFile(path, partial);
      await syncToDisk(partial);
      await rename(partial, target);
    }
  }

  async read(key: string, range?: ByteRange): Promise<AsyncIterable<Uint8Array>> {
    try {
      const handle = await open(this.#pathOf(key), "r");
      const bounds = range && { start: range.offset, end: range.offset + range.length - 1 };
      return createReadStream("", { fd: handle, ...bounds });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
      throw new Fault("not-found", "The content of this file is missing in the storage.", { cause: error });
    }
  }

  async delete(keyOrFolder: string): Promise<void> {
    await rm(this.#pathOf(keyOrFolder), { recursive: true, force: true });
  }

  #pathOf(key: string): string {
    return join(this.#directory, key);
  }
}

/** A batch that counts as stored must survive a power failure. */
async function syncToDisk(path: string): Promise<void> {
  const handle = await open(path, "r+");
  try {
    await handle.datasync();
  } finally {
    await handle.close();
  }
}
