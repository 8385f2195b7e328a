import { createHash, type Hash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { type Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";

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
  signal: AbortSignal;
  /** Bytes written by this call so far. */
  onBytes(bytes: number): void;
}

/** Writes a stream to a file and hashes it on the way. Resolves with the bytes written. */
export async function writeHashed(from: Readable, path: string, options: WriteOptions): Promise<number> {
  let bytes = 0;
  const count = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      options.hash.update(chunk);
      bytes += chunk.length;
      options.onBytes(bytes);
      done(null, chunk);
    },
  });
  const flags = options.mode === "append" ? "a" : "w";
  await pipeline(from, count, createWriteStream(path, { flags }), { signal: options.signal });
  return bytes;
}
