/** What a project records of its requests. */
export interface RecordingPolicy {
  /** `errors`: only requests with a status from 400 on, except those that the client abandoned. */
  mode: "errors" | "all";
  /** Part of the requests, above 0 and at most 1. */
  share: number;
  keepDays: number;
  /** Maximum bytes that the project stores; beyond it, the oldest content is removed. */
  maxBytes: number;
  /** What is masked in addition to what the guardrails of the request mask. */
  redact: readonly ("pii" | "secrets")[];
  /** Whether full-text search finds the content. */
  isSearchable: boolean;
}
