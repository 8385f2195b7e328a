import { createContext, Script } from "node:vm";
import { threadCpuMs } from "./thread-cpu.ts";

/** The work exceeded its limit of CPU time. */
export class TimeoutError extends Error {}

const sandbox = createContext({ work: () => {} });
const doWork = new Script("work()");

/** Wall-clock time per CPU time that a busy machine gave this thread last, at which the next work starts. */
let stretch = 1;
const MAX_STRETCH = 64;
/** The interrupt comes a little before the CPU time is used up, even on an idle machine. */
const SUFFICIENT_SHARE = 0.9;

/**
 * Runs synchronous work and interrupts it, including regular expressions, once it has taken `milliseconds` of the thread's
 * CPU time, with a TimeoutError. The interrupt itself knows the wall clock only: on a busy machine, work that it stops
 * too early runs again from its start with a longer limit, so it must be repeatable.
 */
export function runWithTimeout<T>(milliseconds: number, work: () => T): T {
  const limitMs = Math.max(1, Math.ceil(milliseconds));
  for (;;) {
    const timeout = Math.ceil(limitMs * stretch);
    const startedMs = threadCpuMs();
    sandbox.work = work;
    try {
      return doWork.runInContext(sandbox, { timeout }) as T;
    } catch (error) {
      if ((error as NodeJS.ErrnoException | null)?.code !== "ERR_SCRIPT_EXECUTION_TIMEOUT") throw error;
      const cpuMs = threadCpuMs() - startedMs;
      const isOver = cpuMs >= SUFFICIENT_SHARE * limitMs || stretch === MAX_STRETCH;
      stretch = Math.min(MAX_STRETCH, Math.max(1, timeout / Math.max(cpuMs, 1)));
      if (isOver) throw new TimeoutError(`more than ${milliseconds} ms`, { cause: error });
    }
  }
}
