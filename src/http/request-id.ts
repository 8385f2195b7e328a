import { randomBytes } from "node:crypto";

/** In every answer as `x-request-id` and in the log. */
export function newRequestId(): string {
  return `req_${randomBytes(16).toString("hex")}`;
}
