import { totalmem } from "node:os";

/** Fraction of memory for the service, the database's cache and the operating system. */
const RESERVED_SHARE = 0.25;

/** Returns the bytes that local models may use together: 75% of the machine's memory or of the cgroup's limit. */
export function defaultMemoryBudget(): number {
  // 0 or a number beyond the machine's memory: no limit is set.
  const limit = process.constrainedMemory();
  const total = totalmem();
  return Math.floor((limit > 0 ? Math.min(limit, total) : total) * (1 - RESERVED_SHARE));
}
