import { randomBytes } from "node:crypto";

const ID_BYTES = 16;
const IDS_AT_ONCE = 256;

let digits = "";
let used = 0;

/** In every answer as `x-request-id` and in the log. */
export function newRequestId(): string {
  if (used === digits.length) {
    digits = randomBytes(ID_BYTES * IDS_AT_ONCE).toString("hex");
    used = 0;
  }
  used += 2 * ID_BYTES;
  return `req_${digits.slice(used - 2 * ID_BYTES, used)}`;
}
