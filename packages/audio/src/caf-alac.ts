/** Decodes Apple Lossless audio in a CAF file (Apple Core Audio Format Specification 1.0), which the CAF decoder does not. */

import { type FileHandle, open } from "node:fs/promises";
import { decodePackets, parseAlacCookie } from "./alac-decoder.ts";
import { AudioError } from "./audio-error.ts";
import type { DecodedAudio } from "./decode-packets.ts";

const FILE_HEADER_BYTES = 8;
const CHUNK_HEADER_BYTES = 12;
/** The description comes first and begins with the sample rate. */
const FORMAT_ID = FILE_HEADER_BYTES + CHUNK_HEADER_BYTES + 8;
const EDIT_COUNT_BYTES = 4;
const PACKET_TABLE_HEADER_BYTES = 24;
/** Sizes of the packets of more than 100 hours. */
const MAX_PACKET_TABLE_BYTES = 16 * 1024 ** 2;
const MAX_COOKIE_BYTES = 1024;
/** Above any packet of eight channels with 65,536 frames. */
const MAX_PACKET_BYTES = 4 * 1024 ** 2;
const PACKETS_PER_BATCH = 50;
/** Each header of the boxes `frma` and `alac` that may precede the cookie. */
const BOX_BYTES = 12;

interface Chunk {
  start: number;
  bytes: number;
}

/** `start`: the first bytes of a CAF file. */
export function isAlacCaf(start: Buffer): boolean {
  return start.toString("latin1", FORMAT_ID, FORMAT_ID + 4) === "alac";
}

/** Throws an AudioError for a file without a packet table. */
export async function* decodeAlacCaf(path: string): AsyncGenerator<DecodedAudio> {
  const file = await open(path);
  try {
    const chunks = await findChunks(file);
    const [cookie, table, data] = [chunks.get("kuki"), chunks.get("pakt"), chunks.get("data")];
    if (cookie === undefined || table === undefined || data === undefined) throw incomplete();
    const config = parseAlacCookie(unwrapCookie(await readChunk(file, cookie, MAX_COOKIE_BYTES)));
    let packets: { data: Buffer }[] = [];
    let position = data.start + EDIT_COUNT_BYTES;
    for (const bytes of packetSizes(await readChunk(file, table, MAX_PACKET_TABLE_BYTES))) {
      const packet = await readAt(file, position, bytes);
      // Truncated: what came before is still audio.
      if (packet.length < bytes) break;
      position += bytes;
      if (packets.push({ data: packet }) < PACKETS_PER_BATCH) continue;
      yield decodePackets(packets, config) as DecodedAudio;
      packets = [];
    }
    const rest = decodePackets(packets, config);
    if (rest !== undefined) yield rest;
  } finally {
    await file.close();
  }
}

async function findChunks(file: FileHandle): Promise<Map<string, Chunk>> {
  const chunks = new Map<string, Chunk>();
  for (let at = FILE_HEADER_BYTES; ; ) {
    const header = await readAt(file, at, CHUNK_HEADER_BYTES);
    if (header.length < CHUNK_HEADER_BYTES) return chunks;
    const bytes = Number(header.readBigInt64BE(4));
    const start = at + CHUNK_HEADER_BYTES;
    chunks.set(header.toString("latin1", 0, 4), { start, bytes: bytes < 0 ? Number.MAX_SAFE_INTEGER : bytes });
    // A negative size, of the data only, reaches to the end of the file.
    if (bytes < 0) return chunks;
    at = start + bytes;
  }
}

function unwrapCookie(cookie: Buffer): Buffer {
  let start = 0;
  for (const name of ["frma", "alac"]) {
    if (cookie.toString("latin1", start + 4, start + 8) === name) start += BOX_BYTES;
  }
  return cookie.subarray(start);
}

/** Sizes are numbers of seven bits per byte; the highest bit marks all bytes but the last. */
function* packetSizes(table: Buffer): Generator<number> {
  let size = 0;
  for (const byte of table.subarray(PACKET_TABLE_HEADER_BYTES)) {
    size = size * 128 + (byte & 127);
    if (size > MAX_PACKET_BYTES) throw incomplete();
    if (byte >= 128) continue;
    if (size > 0) yield size;
    size = 0;
  }
}

async function readChunk(file: FileHandle, { start, bytes }: Chunk, maxBytes: number): Promise<Buffer> {
  if (bytes > maxBytes) throw incomplete();
  return readAt(file, start, bytes);
}

async function readAt(file: FileHandle, position: number, bytes: number): Promise<Buffer> {
  const { bytesRead, buffer } = await file.read(Buffer.alloc(bytes), 0, bytes, position);
  return buffer.subarray(0, bytesRead);
}

function incomplete(): AudioError {
  return new AudioError("unreadable", "The file does not describe its Apple Lossless audio.");
}
