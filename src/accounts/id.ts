import { randomBytes } from "node:crypto";

type Prefix = "org" | "proj" | "svc_acct" | "key" | "audit_log";

/** Such as `proj_6b1f…`: unique without asking the database, and says what it names. */
export function newId(prefix: Prefix): string {
  return `${prefix}_${randomBytes(12).toString("hex")}`;
}
