import type { ShownRequest } from "../wire/openai/organization/request-entries.ts";
import type { RequestDetails } from "./request-details.ts";

/** Entry of the request history: metadata of one request that has ended. Null: not known, or not of its operation. */
export interface RequestEntry extends ShownRequest {
  organizationId: string;
  details: RequestDetails | null;
}
