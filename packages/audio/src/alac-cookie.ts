/** Finds the configuration of Apple Lossless audio in an MP4 file, which the demuxer does not return. */

import { type FileHandle, open } from "node:fs/promises";
import { AudioError } from "./audio-error.ts";

const BOX_HEADER_BYTES = 8;
const LONG_BOX_HEADER_BYTES = 16;
const MAX_INDEX_BYTES = 64 * 1024 ** 2;
/** Box `alac` within the sample entry of the same name: its size, name, version and flags. */
const COOKIE_BOX = Buffer.from("\0\0\0\x24alac\0\0\0\0", "latin1");
const COOKIE_BYTES = 24;

/** Throws an AudioError for a file without one. */
export async function findAlacCookie(path: string): Promise<Buffer> {
  const file = await open(path);
  try {
    const index = await readIndex(file);
    const at = index?.indexOf(COOKIE_BOX) ?? -1;
    if (index !== undefined && at >= 0)
      return index.subarray(at + COOKIE_BOX.length, at + COOKIE_BOX.length + COOKIE_BYTES);
  } finally {
    await file.close();
  }
  throw new AudioError("unreadable", "The file does not describe its Apple Lossless audio.");
}

/** Returns the box `moov` (ISO 14496-12, 8.2.1). */
async function readIndex(file: FileHandle): Promise<Buffer | undefined> {
  for (let at = 0; ; ) {
    const header = await readAt(file, at, LONG_BOX_HEADER_BYTES);
    if (header.length < BOX_HEADER_BYTES) return undefined;
    const size = header.readUInt32BE(0);
    const isLong = size === 1 && header.length === LONG_BOX_HEADER_BYTES;
    const bytes = isLong ? Number(header.readBigUInt64BE(BOX_HEADER_BYTES)) : size;
    if (header.toString("latin1", 4, BOX_HEADER_BYTES) === "moov") {
      return readAt(file, at, Math.min(bytes === 0 ? MAX_INDEX_BYTES : bytes, MAX_INDEX_BYTES));
    }
    // Zero: the box reaches to the end of the file.
    if (bytes < BOX_HEADER_BYTES) return undefined;
    at += bytes;
  }
}

async function readAt(file: FileHandle, position: number, bytes: number): Promise<Buffer> {
  const { bytesRead, buffer } = await file.read(Buffer.alloc(bytes), 0, bytes, position);
  return buffer.subarray(0, bytesRead);
}
