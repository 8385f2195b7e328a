import type { SourceKind } from "./manifest/manifest-entry.ts";

/** Progress of a pull. One event per received chunk, so displays should throttle. */
export interface PullProgress {
  /** Manifest ID, or `hf:owner/repo/path`. */
  model: string;
  file: string;
  /**
   * `waiting`: another process is pulling the same model. `fetching`: downloading from `source`.
   * `stored` or `failed` comes once, at the end; an aborted pull ends without either.
   */
  phase: "waiting" | "fetching" | "stored" | "failed";
  /** Current source; undefined before the first. */
  source: SourceKind | undefined;
  /** Bytes of this file, including those from before a resume. */
  receivedBytes: number;
  /** Undefined while unknown; rounded for pip. */
  totalBytes: number | undefined;
  /** Bytes of the model's files before this one; with `stored`, of all its files. */
  completedBytes: number;
  /** Size of all files of the model; undefined while unknown. */
  modelBytes: number | undefined;
}

export type ProgressListener = (progress: PullProgress) => void;
