/** Ends a child process when the service ends, even by a crash or while native code blocks the main thread. */

import { writeFileSync } from "node:fs";
import { Worker, workerData } from "node:worker_threads";
import { isAlive } from "./process-owner.ts";

const POLL_MS = 250;
/** Processes of a child that end with it; a model has one. */
const MAX_CHILDREN = 16;

interface Watched {
  parentPid: number;
  childPids: Int32Array<SharedArrayBuffer>;
}

/** Shared with the worker, which may be the first to see the parent's end. Zeros follow the last one. */
const childPids = new Int32Array(new SharedArrayBuffer(MAX_CHILDREN * Int32Array.BYTES_PER_ELEMENT));

/** Call on the main thread of the child. `entry` is the module whose worker thread calls `watchParent`. */
export function exitWithParent(parentPid: number, entry: URL): void {
  // The common case, handled at once. The worker is for a main thread that native code blocks.
  process.on("disconnect", () => endNow(childPids));
  if (!process.connected) endNow(childPids);
  new Worker(entry, { workerData: { parentPid, childPids } satisfies Watched }).unref();
  // A terminal's Ctrl-C reaches the whole process group; the service decides when a model ends.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});
  preferredWhenMemoryRunsOut();
}

/** Call on the worker thread of the child. Does not depend on the main thread. */
export function watchParent(): void {
  const { parentPid, childPids } = workerData as Watched;
  // Not a Poll, which does not keep its thread running.
  setInterval(() => {
    // Windows keeps a dead parent's number; elsewhere the orphan gets another parent.
    if (process.ppid !== parentPid || !isAlive(parentPid)) endNow(childPids);
  }, POLL_MS);
}

/** Call on the main thread of the child. Kills that process before this one ends itself. Throws beyond the maximum. */
export function killOnExit(pid: number): void {
  const place = childPids.indexOf(0);
  if (place === -1) throw new Error(`a child may have ${MAX_CHILDREN} processes`);
  Atomics.store(childPids, place, pid);
}

/** No exit handlers: native threads that still run make those crash or hang. */
function endNow(pids: Int32Array): void {
  for (const pid of pids) if (pid !== 0) killIfRunning(pid);
  process.kill(process.pid, "SIGKILL");
}

/** Kills the process; does nothing if it has ended. */
export function killIfRunning(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended already.
  }
}

/** The OOM killer then picks this process rather than the service, whose end would fail every model's requests. */
function preferredWhenMemoryRunsOut(): void {
  if (process.platform !== "linux") return;
  try {
    writeFileSync("/proc/self/oom_score_adj", "500");
  } catch {
    // Not every container allows it.
  }
}
