import { readFileSync } from "node:fs";

/** Resident memory of a process, on systems with `/proc`. */
export function residentMegabytes(pid: number): number {
  const pages = Number(readFileSync(`/proc/${pid}/statm`, "utf8").split(" ")[1]);
  return (pages * 4096) / 1e6;
}
