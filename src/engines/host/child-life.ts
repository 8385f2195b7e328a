/** Ends a model's process with the service, however that ends and whatever this process is busy with. */

import { writeFileSync } from "node:fs";
import { Worker, workerData } from "node:worker_threads";
import { isAlive } from "../../process/process-owner.ts";

const POLL_MS = 250;

/** On the main thread of the child. `entry` is the module whose worker thread calls `watchParent`. */
export function endWithParent(parentPid: number, entry: URL): void {
  // The usual case, at once. The worker is for a main thread that native code keeps busy.
  process.on("disconnect", endNow);
  if (!process.connected) endNow();
  new Worker(entry, { workerData: { parentPid } }).unref();
  // A terminal's Ctrl-C reaches the whole process group; the service decides when a model ends.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});
  preferredWhenMemoryRunsOut();
}

/** On the worker thread of the child: needs nothing of the main thread. */
export function watchParent(): void {
  const { parentPid } = workerData as { parentPid: number };
  setInterval(() => {
    // Windows keeps a dead parent's number; elsewhere the orphan gets another parent.
    if (process.ppid !== parentPid || !isAlive(parentPid)) endNow();
  }, POLL_MS);
}

/** Processes that have to end with this one. */
const companions: Set<number> = new Set();

/** On the main thread of the child: whatever ends this process from inside ends that one first. */
export function endTogetherWith(pid: number): void {
  companions.add(pid);
}

/** No exit handlers: native threads that still run make those crash or hang. */
function endNow(): void {
  for (const pid of companions) killIfThere(pid);
  process.kill(process.pid, "SIGKILL");
}

export function killIfThere(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It is gone already.
  }
}

/** The kernel then takes this process and not the service, which would end every model's requests. */
function preferredWhenMemoryRunsOut(): void {
  if (process.platform !== "linux") return;
  try {
    writeFileSync("/proc/self/oom_score_adj", "500");
  } catch {
    // Not every container allows it.
  }
}
