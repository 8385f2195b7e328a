import { readFileSync } from "node:fs";

const PAGE_BYTES = 4096;

/** Resident memory of a process; undefined where there is no /proc or the process has ended. */
export function residentBytes(pid: number): number | undefined {
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, "utf8").split(" ")[1]) * PAGE_BYTES;
  } catch {
    return undefined;
  }
}
