/** What the cache does for a request. Types only. */

/** Why an answer is not cached. */
export type BypassReason =
  | "off"
  | "sampled"
  | "tools"
  | "references"
  | "stored"
  | "size"
  | "unsupported"
  | "number"
  | "task";

/** Parts of a request that determine its answer, and what it needs permission for. */
export interface CacheParts {
  parts: unknown;
  isSampled: boolean;
  hasTools: boolean;
  /** Whether the parts determine bytes in the caller's format, too. */
  isForwardable: boolean;
}

/** What the cache did. */
export type CacheOutcome =
  | { status: "hit"; ageSeconds: number; key: string }
  | { status: "miss"; key: string }
  | { status: "bypass"; reason: BypassReason };
