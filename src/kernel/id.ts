import { randomUUID } from "node:crypto";

/**
 * Returns `prefix` and 32 random hexadecimal digits (122 random bits). The prefix includes its separator, such as
 * `resp_` or `chatcmpl-`.
 */
export function newId(prefix: string): string {
  // randomUUID takes its bytes from a pool, which randomBytes does not: 0.1 instead of 0.6 µs.
  return `${prefix}${randomUUID().replaceAll("-", "")}`;
}

/**
 * Returns `prefix` and 32 hexadecimal digits, of which 12 are the time in milliseconds and 20 are random (74 random bits).
 * An index of IDs in the order of time takes a tenth of the CPU time of one of random IDs, which touches a page for each.
 */
export function newOrderedId(prefix: string): string {
  const time = Date.now().toString(16).padStart(12, "0");
  return prefix + time + newId("").slice(time.length);
}
