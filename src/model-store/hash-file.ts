import { createHash, type Hash } from "node:crypto";
import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { Fault } from "../kernel/faults.ts";

/** Updates a hash with a complete file. */
export async function hashFile(path: string, signal: AbortSignal): Promise<Hash> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path, { signal, highWaterMark: 1 << 20 })) hash.update(chunk as Buffer);
  return hash;
}

interface WriteOptions {
  /** Already includes the file's content when appending. */
  hash: Hash;
  mode: "replace" | "append";
  /** Maximum size; undefined: unknown. */
  maxBytes: number | undefined;
  signal: AbortSignal;
  /** Called with the bytes written by this call so far. */
  onBytes(bytes: number): void;
}

/**
 * Writes a stream to a file and hashes it. Resolves with the bytes written, once they are on the disk.
 * When the stream breaks, the file keeps the data before. Throws a Fault when the stream exceeds `maxBytes`.
 */
export async function writeHashed(from: AsyncIterable<Buffer>, path: string, options: WriteOptions): Promise<number> {
  const { hash, mode, maxBytes, signal, onBytes } = options;
  await using file = await open(path, mode === "append" ? "a" : "w");
  let bytes = 0;
  for await (const chunk of from) {
    signal.throwIfAborted();
    bytes += chunk.length;
    if (maxBytes !== undefined && bytes > maxBytes) throw tooLong();
    hash.update(chunk);
    // Not a pipeline, which would drop its buffer when the stream breaks, at the cost of a resumed download.
    await file.appendFile(chunk);
    onBytes(bytes);
  }
  await file.datasync();
  return bytes;
}

/** Prevents a wrong file from filling the disk before its hash is known. */
export function tooLong(): Fault {
  return new Fault("unavailable", "wrong file, refused: it is longer than expected");
}
