/** Processes and threads that cannot be started because the system has nothing left for another one. */

import { unavailable } from "../faults.ts";

/** No file descriptors, processes or memory; the last one is a thread's. */
const EXHAUSTED: ReadonlySet<unknown> = new Set(["EMFILE", "ENFILE", "EAGAIN", "ENOMEM", "ERR_WORKER_INIT_FAILED"]);

/** Whether a later start may succeed. */
export function isExhausted(error: unknown): boolean {
  return error instanceof Error && EXHAUSTED.has((error as NodeJS.ErrnoException).code);
}

/** Returns a Fault for such an error, and any other one as it is. */
export function toStartFault(error: unknown): unknown {
  if (!isExhausted(error)) return error;
  const message =
    "The service has no file descriptors, processes or memory left to start a process. Retry in a few seconds.";
  return unavailable(message, "server_is_overloaded", 5, error);
}
