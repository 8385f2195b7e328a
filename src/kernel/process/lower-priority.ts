import { getPriority, setPriority } from "node:os";
import { isMainThread } from "node:worker_threads";

/** The scheduler gives the event loop three quarters of a core that both want. */
const NICENESS = 5;

/**
 * Lets the service's event loop precede this process, or this worker thread, when all cores are busy: other requests
 * wait for the event loop. Threads have priorities of their own on Linux only.
 */
export function lowerPriority(): void {
  if (!isMainThread && process.platform !== "linux") return;
  try {
    // 0: on Linux the calling thread.
    setPriority(0, Math.min(19, getPriority(0) + NICENESS));
  } catch {
    // Sandboxes may forbid it, and everything works without it.
  }
}
