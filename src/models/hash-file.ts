import { createHash, type Hash } from "node:crypto";
import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { Fault } from "../faults.ts";

/** Feeds a whole file to a hash. */
export async function hashFile(path: string, signal: AbortSignal): Promise<Hash> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path, { signal, highWaterMark: 1 << 20 })) hash.update(chunk as Buffer);
  return hash;
}

interface WriteOptions {
  /** Already fed with what the file holds, when it is appended to. */
  hash: Hash;
  mode: "replace" | "append";
  /** More is not written; undefined: nobody knows how much it is. */
  mostBytes: number | undefined;
  signal: AbortSignal;
  /** Bytes written by this call so far. */
  onBytes(bytes: number): void;
}

/**
 * Writes a stream to a file and hashes it on the way. Resolves with the bytes written, once they are on the disk.
 * When the stream breaks, what it gave is in the file. Throws a Fault when it gives more than it may.
 */
export async function writeHashed(from: AsyncIterable<Buffer>, path: string, options: WriteOptions): Promise<number> {
  const { hash, mode, mostBytes, signal, onBytes } = options;
  await using file = await open(path, mode === "append" ? "a" : "w");
  let bytes = 0;
  for await (const chunk of from) {
    signal.throwIfAborted();
    bytes += chunk.length;
    if (mostBytes !== undefined && bytes > mostBytes) throw tooLong();
    hash.update(chunk);
    // Not a pipeline: it would drop what it holds when the stream breaks, and a resumed download would lose it.
    await file.appendFile(chunk);
    onBytes(bytes);
  }
  await file.datasync();
  return bytes;
}

/** Of a file that would fill the disk before its hash could tell that it is another. */
export function tooLong(): Fault {
  return new Fault("unavailable", "wrong file, refused: it is longer than expected");
}
