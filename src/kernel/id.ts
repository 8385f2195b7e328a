import { randomUUID } from "node:crypto";

/**
 * Returns `prefix` and 32 random hexadecimal digits (122 random bits). The prefix includes its separator, such as
 * `resp_` or `chatcmpl-`.
 */
export function newId(prefix: string): string {
  // randomUUID takes its bytes from a pool, which randomBytes does not: 0.1 instead of 0.6 µs.
  return `${prefix}${randomUUID().replaceAll("-", "")}`;
}
