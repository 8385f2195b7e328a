/** Budgets of child processes, enforced where the system has /proc. */

import { treeUsage } from "./process-usage.ts";

/**
 * Bounds of the process with all that it starts. The system itself bounds the CPU time where it has a shell, a little
 * above: a process does not outlive the service for long.
 */
export interface ChildBudget {
  residentBytes?: number;
  cpuSeconds?: number;
}

const POLL_MS = 250;

/** Calls `onExceeded` with what the process exceeds, until the returned function is called. */
export function watchBudget(
  pid: number,
  budget: ChildBudget,
  onExceeded: (limit: keyof ChildBudget) => void,
  pollMs: number = POLL_MS,
): () => void {
  if (Object.keys(budget).length === 0) return () => {};
  const poll = setInterval(() => {
    const usage = treeUsage(pid);
    for (const limit of ["residentBytes", "cpuSeconds"] as const) {
      if (usage !== undefined && usage[limit] > (budget[limit] ?? Number.POSITIVE_INFINITY)) onExceeded(limit);
    }
  }, pollMs);
  poll.unref();
  return () => clearInterval(poll);
}
