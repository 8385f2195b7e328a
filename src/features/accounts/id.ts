import { randomBytes } from "node:crypto";

type Prefix = "org" | "proj" | "svc_acct" | "key" | "session" | "audit_log";

/** Generates a unique ID such as `proj_6b1f…`, whose prefix names the type of resource. */
export function newId(prefix: Prefix): string {
  return `${prefix}_${randomBytes(12).toString("hex")}`;
}
