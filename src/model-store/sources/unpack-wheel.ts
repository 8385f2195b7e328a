import type { Hash } from "node:crypto";
import { Fault } from "../../kernel/faults.ts";
import { isDiskFullError } from "../free-space.ts";
import { writeHashed } from "../hash-file.ts";
import type { FetchRequest } from "./source.ts";

export interface UnpackOptions {
  /** Updated with the bytes written. */
  hash: Hash;
  mode: "replace" | "append";
  /** Maximum size of the file; undefined: unknown. */
  maxBytes: number | undefined;
}

/**
 * Writes or appends one file of a wheel (a zip archive) to the destination and returns its size. Throws a Fault
 * when the wheel is broken, or the file is missing or too long.
 */
export async function unpackWheel(
  wheel: string,
  path: string,
  { destination, signal }: FetchRequest,
  options: UnpackOptions,
): Promise<number> {
  try {
    const { openPromise } = await import("yauzl");
    const archive = await openPromise(wheel);
    // Closes the archive after the last entry at the latest.
    for await (const entry of archive.eachEntry()) {
      if (entry.fileName !== path) continue;
      const stream = await archive.openReadStreamPromise(entry);
      return await writeHashed(stream, destination, { ...options, signal, onBytes: () => {} });
    }
  } catch (error) {
    signal.throwIfAborted();
    if (isDiskFullError(error) || error instanceof Fault) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new Fault("upstream-failed", `the wheel is broken: ${reason}`, { cause: error });
  }
  throw new Fault("not-found", `the wheel has no file ${path}`);
}
