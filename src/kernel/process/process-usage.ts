/** Memory and CPU time of other processes, where the system has /proc. */

import { readdirSync, readFileSync } from "node:fs";

const PAGE_BYTES = 4096;
/** USER_HZ, in which Linux reports times to programs, on every architecture that Node.js supports. */
const TICKS_PER_SECOND = 100;
/** Indexes in /proc/PID/stat behind the name of the program, which may contain spaces and parentheses. */
const CPU_FIELDS = { first: 11, end: 15 };

export interface ProcessUsage {
  residentBytes: number;
  /** User and system time of the processes and of their ended children. */
  cpuSeconds: number;
}

/** Resident memory of a process; undefined where there is no /proc or the process has ended. */
export function residentBytes(pid: number): number | undefined {
  const pages = read(`/proc/${pid}/statm`)?.split(" ")[1];
  return pages === undefined ? undefined : Number(pages) * PAGE_BYTES;
}

/** Usage of a process with all that it has started; undefined where there is no /proc or it has ended. */
export function treeUsage(pid: number): ProcessUsage | undefined {
  const usages = processTree(pid).flatMap((each) => usageOf(each) ?? []);
  if (usages.length === 0) return undefined;
  return {
    residentBytes: usages.reduce((sum, usage) => sum + usage.residentBytes, 0),
    cpuSeconds: usages.reduce((sum, usage) => sum + usage.cpuSeconds, 0),
  };
}

/** Kills a process with all that it has started, as far as the system has /proc. */
export function killTree(pid: number): void {
  for (const each of processTree(pid)) {
    try {
      process.kill(each, "SIGKILL");
    } catch {
      // It has ended already.
    }
  }
}

/** IDs of a process and of its descendants. */
function processTree(pid: number): number[] {
  const descendants = threadsOf(pid).flatMap((thread) => {
    const children = (read(`/proc/${pid}/task/${thread}/children`) ?? "").trim();
    return children === "" ? [] : children.split(" ").flatMap((child) => processTree(Number(child)));
  });
  return [pid, ...descendants];
}

/** Threads of a process, each of which has children of its own in /proc. */
function threadsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}

function usageOf(pid: number): ProcessUsage | undefined {
  const stat = read(`/proc/${pid}/stat`);
  if (stat === undefined) return undefined;
  const times = stat
    .slice(stat.lastIndexOf(")") + 2)
    .split(" ")
    .slice(CPU_FIELDS.first, CPU_FIELDS.end);
  return {
    residentBytes: residentBytes(pid) ?? 0,
    cpuSeconds: times.reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS_PER_SECOND,
  };
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return undefined;
  }
}
