import type { Worker } from "node:worker_threads";

/**
 * Calls `end` once a thread has used `ms` of CPU time, counted from its start: on a busy machine, the clock on the wall
 * says nothing about the work.
 */
export function afterThreadCpu(worker: Worker, ms: number, end: () => void): Disposable {
  let timer: NodeJS.Timeout;
  let isStopped = false;
  const check = async () => {
    // Rejects once the thread has ended.
    const usage = await worker.cpuUsage().catch(() => undefined);
    if (usage === undefined || isStopped) return;
    const remainingMs = ms - (usage.user + usage.system) / 1000;
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
