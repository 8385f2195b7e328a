import { readFileSync } from "node:fs";

/** As the kernel says it: a process that was killed is a zombie (Z) until its new parent notices. */
export function processState(pid: number): string {
  try {
    return /^State:\t(\w)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? "ended";
  } catch {
    return "ended";
  }
}
