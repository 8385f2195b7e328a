import type { Hash } from "node:crypto";
import { openPromise } from "yauzl";
import { Fault } from "../faults.ts";
import { isDiskFullError } from "./free-space.ts";
import { writeHashed } from "./hash-file.ts";
import type { FetchRequest } from "./source.ts";

export interface UnpackOptions {
  /** Fed with what is written. */
  hash: Hash;
  mode: "replace" | "append";
  /** Undefined: nobody knows how long the file is. */
  mostBytes: number | undefined;
}

/**
 * Writes one file of a wheel (a zip archive) to the destination, or to its end, and gives its bytes. Throws a Fault
 * when the wheel is broken, or has no such file or a longer one.
 */
export async function unpackWheel(
  wheel: string,
  path: string,
  { destination, signal }: FetchRequest,
  options: UnpackOptions,
): Promise<number> {
  try {
    const archive = await openPromise(wheel);
    // Ends, and closes the archive, at the latest when the last entry was read.
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
