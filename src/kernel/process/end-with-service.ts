/** Commands of other programs that end with the service, also when it is killed. */

import { execFile } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { isExhausted, toStartFault } from "./start-fault.ts";

const run = promisify(execFile);

/** Sets the signal that the kernel sends at the end of the parent, and becomes the program. */
const WRAPPER = ["setpriv", "--pdeathsig", "KILL", "--"] as const;
const TIMEOUT_MS = 5_000;

let isAvailable: Promise<boolean> | undefined;

/**
 * Returns the command as it is where the system has no such program, or lacks the command's own. Throws a Fault when it has
 * nothing left for a process.
 */
export async function endWithService(command: readonly string[], path = process.env.PATH ?? ""): Promise<string[]> {
  const [wrapper, ...options] = WRAPPER;
  isAvailable ??= run(wrapper, [...options, "true"], { timeout: TIMEOUT_MS }).then(
    () => true,
    (error: unknown) => {
      if (!isExhausted(error)) return false;
      isAvailable = undefined;
      throw toStartFault(error);
    },
  );
  const [program = ""] = command;
  // Of a missing program, the error should speak.
  return isExecutable(program, path) && (await isAvailable) ? [...WRAPPER, ...command] : [...command];
}

function isExecutable(program: string, path: string): boolean {
  const files = program.includes("/") ? [program] : path.split(delimiter).map((folder) => join(folder, program));
  return files.some((file) => {
    try {
      accessSync(file, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
