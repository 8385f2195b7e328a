import { createHash } from "node:crypto";
import { openPromise } from "yauzl";
import { Fault } from "../faults.ts";
import { isDiskFullError } from "./free-space.ts";
import { writeHashed } from "./hash-file.ts";
import type { FetchedFile, FetchRequest } from "./source.ts";

/** Writes one file of a wheel (a zip archive) to the destination. Throws a Fault when the wheel is broken or has no such file. */
export async function unpackWheel(wheel: string, path: string, request: FetchRequest): Promise<FetchedFile> {
  const { destination, signal, onProgress } = request;
  try {
    const archive = await openPromise(wheel);
    // Ends, and closes the archive, at the latest when the last entry was read.
    for await (const entry of archive.eachEntry()) {
      if (entry.fileName !== path) continue;
      const hash = createHash("sha256");
      const bytes = await writeHashed(await archive.openReadStreamPromise(entry), destination, {
        hash,
        mode: "replace",
        signal,
        onBytes: () => {},
      });
      onProgress(bytes, bytes);
      return { bytes, sha256: hash.digest("hex"), statedSha256: undefined };
    }
  } catch (error) {
    signal.throwIfAborted();
    if (isDiskFullError(error)) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new Fault("upstream-failed", `the wheel is broken: ${reason}`, { cause: error });
  }
  throw new Fault("not-found", `the wheel has no file ${path}`);
}
