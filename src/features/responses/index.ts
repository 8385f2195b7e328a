/** What other features may use. */

export { readItems } from "./item-queries.ts";
export { type RowPlace, SealedRows } from "./sealed-rows.ts";
export { findResponse, listAnsweredResponses, type ResponseSelection, readChain } from "./stored-response-queries.ts";
export type { ResponseItemRow, StoredResponseRow } from "./stored-response-rows.ts";
