import type { SourceKind } from "./manifest-entry.ts";

/** How a pull goes. One event for each piece received, so whoever draws it draws less often than it comes. */
export interface PullProgress {
  /** Manifest id, or `hf:owner/repo/path`. */
  model: string;
  file: string;
  /**
   * `waiting`: another process is pulling the same model. `fetching`: from `source`.
   * `stored` and `failed` come once, last, for the model.
   */
  phase: "waiting" | "fetching" | "stored" | "failed";
  /** The source that is tried; undefined while none is. */
  source: SourceKind | undefined;
  /** Of this file, what was there before a resumed download counted in. */
  receivedBytes: number;
  /** Undefined while the source does not say; through pip it is rounded. */
  totalBytes: number | undefined;
}

export type ProgressListener = (progress: PullProgress) => void;
