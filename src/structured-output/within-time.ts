/** Ends work that takes too long, in the middle of it: a schema can ask for more steps than anybody counted before. */

import { createContext, Script } from "node:vm";

/** The work did not end in its time. */
export class TookTooLong extends Error {}

const sandbox = createContext({ work: () => {} });
const doWork = new Script("work()");

/** Returns what `work` returns, or throws what it throws; TookTooLong when it is not done after so many milliseconds. */
export function withinTime<T>(milliseconds: number, work: () => T): T {
  sandbox.work = work;
  try {
    return doWork.runInContext(sandbox, { timeout: milliseconds }) as T;
  } catch (error) {
    if ((error as NodeJS.ErrnoException | null)?.code === "ERR_SCRIPT_EXECUTION_TIMEOUT") {
      throw new TookTooLong(`more than ${milliseconds} ms`, { cause: error });
    }
    throw error;
  }
}
