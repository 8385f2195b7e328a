import { createContext, Script } from "node:vm";

/** The work exceeded its time limit. */
export class TimeoutError extends Error {}

const sandbox = createContext({ work: () => {} });
const doWork = new Script("work()");

/** Runs synchronous work and interrupts it, including regular expressions, after `milliseconds` with a TimeoutError. */
export function runWithTimeout<T>(milliseconds: number, work: () => T): T {
  sandbox.work = work;
  try {
    return doWork.runInContext(sandbox, { timeout: Math.max(1, Math.ceil(milliseconds)) }) as T;
  } catch (error) {
    if ((error as NodeJS.ErrnoException | null)?.code === "ERR_SCRIPT_EXECUTION_TIMEOUT") {
      throw new TimeoutError(`more than ${milliseconds} ms`, { cause: error });
    }
    throw error;
  }
}
