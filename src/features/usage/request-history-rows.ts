/** Rows of the request history. */

import type { RequestEntry } from "../../http/request-entry.ts";

/** Columns of an entry that many requests have in common. */
type CommonColumn =
  | "organizationId"
  | "projectId"
  | "keyId"
  | "operation"
  | "model"
  | "answeredBy"
  | "deployment"
  | "status"
  | "outcome"
  | "error";

/** What requests have in common. The request history refers to it by number. */
export interface RequestDimensionRow extends Pick<RequestEntry, CommonColumn> {
  /** The first 53 bits of the hash of the other columns, except the last. */
  id: number;
  /** Start of the last UTC day with such a request. */
  lastDay: number;
}

/** Metadata of one request, for a few days. */
export interface RequestHistoryRow extends Omit<RequestEntry, CommonColumn | "details"> {
  dimensionId: number;
  /** `RequestDetails` as JSON. */
  details: string | null;
}

declare module "../../storage/schema.ts" {
  interface Schema {
    requestDimensions: RequestDimensionRow;
    requestHistory: RequestHistoryRow;
  }
}
