/** Downloads one file from the first source that serves it, and verifies its size and hash. */

import { rm } from "node:fs/promises";
import { join } from "node:path";
import { Fault } from "../kernel/faults.ts";
import type { Logger } from "../kernel/logger.ts";
import { DISK_FULL, diskFull, freeBytesIn, isDiskFullError } from "./free-space.ts";
import type { ManifestFile, SourceKind, SourceLocation } from "./manifest/manifest-entry.ts";
import {
  describeLocation,
  type FetchedFile,
  type FetchRequest,
  type Source,
  type Sources,
  SourceUnreachable,
  TOOL_MISSING,
} from "./sources/source.ts";

export interface FileRequest {
  file: ManifestFile;
  /** Kept when the download fails, for a source that resumes. */
  unfinishedDirectory: string;
  /** Removed when the pull ends. */
  scratchDirectory: string;
  signal: AbortSignal;
  onProgress(source: SourceKind, receivedBytes: number, totalBytes: number | undefined): void;
}

/** State of one pull's files. */
export class FileFetcher {
  readonly #sources: Sources;
  readonly #logger: Logger;
  /** Unreachable sources with the reason, skipped for the other files. The next pull tries them again. */
  readonly #unreachable = new Map<SourceKind, string>();

  constructor(sources: Sources, logger: Logger) {
    this.#sources = sources;
    this.#logger = logger;
  }

  /** Throws a Fault with every source's reason when all fail. */
  async fetch(order: FileRequest): Promise<FetchedFile & { path: string; from: string }> {
    const reasons: string[] = [];
    const failures: unknown[] = [];
    for (const location of order.file.sources) {
      const failure = this.#unreachable.get(location.source);
      if (failure !== undefined) {
        reasons.push(`${location.source}: not tried again, ${failure}`);
        continue;
      }
      try {
        return await this.#fetchFrom(location, order);
      } catch (error) {
        order.signal.throwIfAborted();
        reasons.push(`${describeLocation(location)}: ${this.#reasonOf(error, location, order)}`);
        failures.push(error);
      }
    }
    const missingTool = failures.findLast((error) => error instanceof Fault && error.code === TOOL_MISSING);
    throw new Fault("unavailable", `${order.file.name} could not be downloaded. ${reasons.join(" · ")}`, {
      cause: missingTool ?? failures.at(-1),
      code: (missingTool as Fault | undefined)?.code,
    });
  }

  /** Throws a failure for which another source is no way out. */
  #reasonOf(error: unknown, { source }: SourceLocation, { file }: FileRequest): string {
    if (error instanceof SourceUnreachable) this.#unreachable.set(source, error.message);
    else if (!(error instanceof Fault) || error.code === DISK_FULL) throw error;
    this.#logger.info({ file: file.name, source, reason: error.message }, "source failed");
    return error.message;
  }

  async #fetchFrom(
    location: SourceLocation,
    order: FileRequest,
  ): Promise<FetchedFile & { path: string; from: string }> {
    const { file, scratchDirectory, unfinishedDirectory, signal } = order;
    order.onProgress(location.source, 0, undefined);
    const source: Source<never> = this.#sources[location.source];
    const destination = join(source.resumes ? unfinishedDirectory : scratchDirectory, file.name);
    let needed = file.bytes;
    const request: FetchRequest = {
      expected: { bytes: file.bytes, sha256: file.sha256 },
      destination,
      scratchDirectory,
      signal,
      onProgress: (received, total) => {
        needed ??= total;
        order.onProgress(location.source, received, total);
      },
    };
    let fetched: FetchedFile;
    try {
      fetched = await source.fetch(location as never, request);
    } catch (error) {
      if (!isDiskFullError(error)) throw error;
      // A partial download kept for resuming would keep the disk full.
      await rm(destination, { force: true });
      await rm(scratchDirectory, { recursive: true, force: true });
      throw diskFull(unfinishedDirectory, needed, await freeBytesIn(unfinishedDirectory), error);
    }
    const wrong = describeMismatch(file, fetched);
    if (wrong !== undefined) {
      await rm(destination, { force: true });
      throw new Fault("unavailable", wrong);
    }
    return { ...fetched, path: destination, from: describeLocation(location) };
  }
}

/** Describes a difference between expectation and download; undefined when they agree. */
function describeMismatch(file: ManifestFile, fetched: FetchedFile): string | undefined {
  const sha256 = file.sha256 ?? fetched.statedSha256;
  if (file.bytes !== undefined && file.bytes !== fetched.bytes) {
    return `wrong file, refused: expected ${file.bytes} bytes, found ${fetched.bytes}`;
  }
  if (sha256 !== undefined && sha256 !== fetched.sha256) {
    return `wrong file, refused: expected SHA-256 ${sha256}, found ${fetched.sha256} (${fetched.bytes} bytes)`;
  }
  return undefined;
}
