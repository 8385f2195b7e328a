import type { Worker } from "node:worker_threads";

/** The id of each thread that has ended. */
const ENDED = -1;

/**
 * Calls `end` once a thread has used `ms` of CPU time, counted from its start: on a busy machine, the clock on the wall
 * says nothing about the work.
 */
export function afterThreadCpu(worker: Worker, ms: number, end: () => void): Disposable {
  let timer: NodeJS.Timeout;
  let isStopped = false;
  const check = async () => {
    // Rejects before the thread has started, which takes a busy machine long, and once it has ended.
    const { user, system } = await worker.cpuUsage().catch(() => ({ user: 0, system: 0 }));
    if (isStopped || worker.threadId === ENDED) return;
    const remainingMs = ms - (user + system) / 1000;
    if (remainingMs <= 0) end();
    else timer = setTimeout(check, Math.ceil(remainingMs));
  };
  timer = setTimeout(check, ms);
  return {
    [Symbol.dispose]: () => {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
