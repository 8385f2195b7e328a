import { readFileSync } from "node:fs";

/** What a process has in memory, where there is a `/proc`. */
export function residentMegabytes(pid: number): number {
  const pages = Number(readFileSync(`/proc/${pid}/statm`, "utf8").split(" ")[1]);
  return (pages * 4096) / 1e6;
}
