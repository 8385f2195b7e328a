/** Writes zip archives of few and small files, without extensions of the format (APPNOTE.TXT 6.3.10). */

import type { FileHandle } from "node:fs/promises";
import { crc32, deflateRawSync } from "node:zlib";
import type { BundleFile } from "./skill-files.ts";

const LOCAL_HEADER = 0x04034b50;
const CENTRAL_HEADER = 0x02014b50;
const END_OF_DIRECTORY = 0x06054b50;
const VERSION = 20;
/** Unix, whose modes the external attributes are. */
const MADE_BY = (3 << 8) | VERSION;
/** Names are UTF-8. */
const FLAGS = 0x0800;
const [STORED, DEFLATED] = [0, 8];
/** 1 January 1980, so that equal files are equal archives. */
const DATE = 0x0021;

export class ZipWriter {
  readonly #file: FileHandle;
  readonly #directory: Buffer[] = [];
  #offset = 0;

  constructor(file: FileHandle) {
    this.#file = file;
  }

  async add({ path, content, isExecutable }: BundleFile): Promise<void> {
    const name = Buffer.from(path);
    const deflated = deflateRawSync(content);
    const isSmaller = deflated.length < content.length;
    const data = isSmaller ? deflated : content;
    // What the header in front of the file and that of the directory have in common.
    const common = Buffer.alloc(26);
    common.writeUInt16LE(VERSION, 0);
    common.writeUInt16LE(FLAGS, 2);
    common.writeUInt16LE(isSmaller ? DEFLATED : STORED, 4);
    common.writeUInt16LE(DATE, 8);
    common.writeUInt32LE(crc32(content), 10);
    common.writeUInt32LE(data.length, 14);
    common.writeUInt32LE(content.length, 18);
    common.writeUInt16LE(name.length, 22);
    const attributes = Buffer.alloc(14);
    attributes.writeUInt32LE(((isExecutable ? 0o100755 : 0o100644) << 16) >>> 0, 6);
    attributes.writeUInt32LE(this.#offset, 10);
    this.#directory.push(uint32(CENTRAL_HEADER), uint16(MADE_BY), common, attributes, name);
    await this.#write(Buffer.concat([uint32(LOCAL_HEADER), common, name]));
    await this.#write(data);
  }

  /** Writes the directory and returns the size of the archive. */
  async end(): Promise<number> {
    const start = this.#offset;
    const entries = this.#directory.length / 5;
    const directory = Buffer.concat(this.#directory);
    await this.#write(directory);
    const end = Buffer.alloc(18);
    end.writeUInt16LE(entries, 4);
    end.writeUInt16LE(entries, 6);
    end.writeUInt32LE(directory.length, 8);
    end.writeUInt32LE(start, 12);
    await this.#write(Buffer.concat([uint32(END_OF_DIRECTORY), end]));
    return this.#offset;
  }

  async #write(bytes: Buffer): Promise<void> {
    await this.#file.appendFile(bytes);
    this.#offset += bytes.length;
  }
}

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16LE(value);
  return bytes;
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
