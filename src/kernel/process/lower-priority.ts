import { getPriority, setPriority } from "node:os";
import { isMainThread } from "node:worker_threads";

/** The scheduler gives the event loop three quarters of a core that both want. */
const NICENESS = 5;

/** `pid` of the calling thread on Linux, of the process elsewhere. */
const SELF = 0;

/**
 * Lets the service's event loop precede a child process that has just been started, or this worker thread, when all
 * cores are busy: other requests wait for the event loop. Threads have priorities of their own on Linux only.
 */
export function lowerPriority(pid: number = SELF): void {
  if (pid === SELF && !isMainThread && process.platform !== "linux") return;
  try {
    setPriority(pid, Math.min(19, getPriority(SELF) + NICENESS));
  } catch {
    // Sandboxes may forbid it, and everything works without it.
  }
}
