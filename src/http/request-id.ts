import { randomBytes } from "node:crypto";

/** Creates a request ID, which every response (`x-request-id`) and the log contain. */
export function newRequestId(): string {
  return `req_${randomBytes(16).toString("hex")}`;
}
