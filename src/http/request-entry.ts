import type { RequestDetails } from "./request-details.ts";

/** Entry of the request history: metadata of one request that has ended. Null: not known, or not of its operation. */
export interface RequestEntry {
  id: string;
  /** Time of the end. */
  at: number;
  organizationId: string;
  projectId: string;
  keyId: string;
  operation: string;
  /** As the caller wrote it, truncated. */
  model: string | null;
  answeredBy: string | null;
  deployment: string | null;
  status: number;
  outcome: string | null;
  /** Code or kind of the error; never its message, which may quote the request. */
  error: string | null;
  attempts: number | null;
  queuedMilliseconds: number | null;
  firstTokenMilliseconds: number | null;
  durationMilliseconds: number;
  promptTokens: number | null;
  cachedTokens: number | null;
  completionTokens: number | null;
  characters: number | null;
  audioMilliseconds: number | null;
  costNanoDollars: number | null;
  details: RequestDetails | null;
}
