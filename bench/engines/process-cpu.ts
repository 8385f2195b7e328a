import { readdirSync, readFileSync } from "node:fs";

/** CPU time in seconds of a process and of all that descend from it, while they run (Linux). */
export function treeCpuSeconds(pid: number): number {
  const parents = new Map<number, number[]>();
  const seconds = new Map<number, number>();
  for (const name of readdirSync("/proc")) {
    const each = Number(name);
    if (!Number.isInteger(each)) continue;
    const fields = statOf(each);
    if (fields === undefined) continue;
    const parent = Number(fields[1]);
    parents.set(parent, [...(parents.get(parent) ?? []), each]);
    // utime and stime, in hundredths of a second.
    seconds.set(each, (Number(fields[11]) + Number(fields[12])) / 100);
  }
  const sum = (each: number): number =>
    (parents.get(each) ?? []).reduce((total, child) => total + sum(child), seconds.get(each) ?? 0);
  return sum(pid);
}

/** The fields of /proc/PID/stat from the state on, or undefined for a process that has ended. */
function statOf(pid: number): string[] | undefined {
  try {
    return readFileSync(`/proc/${pid}/stat`, "latin1").split(") ").at(-1)?.split(" ");
  } catch {
    return undefined;
  }
}
