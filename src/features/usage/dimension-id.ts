import { hash } from "node:crypto";

/** Returns the first 53 bits of the hash of a dimension's columns, which every process computes alike. */
export function dimensionId(columns: readonly (string | number | null)[]): number {
  return Number(hash("sha256", JSON.stringify(columns), "buffer").readBigUInt64BE() >> 11n);
}
