/** Rows of the request history. */

/** What requests have in common. The request history refers to it by number. */
export interface RequestDimensionRow {
  /** The first 53 bits of the hash of the other columns, except the last. */
  id: number;
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
  /** Start of the last UTC day with such a request. */
  lastDay: number;
}

/** Metadata of one request, for a few days. Null: not known, or not of its operation. */
export interface RequestHistoryRow {
  id: string;
  /** Time of the end. */
  at: number;
  dimensionId: number;
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
  /** `RequestDetails` as JSON. */
  details: string | null;
}

declare module "../../storage/schema.ts" {
  interface Schema {
    requestDimensions: RequestDimensionRow;
    requestHistory: RequestHistoryRow;
  }
}
