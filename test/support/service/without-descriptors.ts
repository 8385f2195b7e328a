/** Code in a process that runs out of file descriptors. */

import { execFile } from "node:child_process";
import { promisify } from "node:util";

const MAX_DESCRIPTORS = 100;

const PRELUDE = `
import { closeSync, openSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
/** Opens all that the process may have, and returns a function that closes them. */
function exhaust() {
  const held = [];
  try {
    for (;;) held.push(openSync("/dev/null"));
  } catch {
    return () => held.forEach((each) => closeSync(each));
  }
}
/** What is thrown, once the errors of the next turns have had their listeners. */
async function failureOf(work) {
  const failure = await Promise.try(work).then(() => undefined, (error) => error);
  await pause(50);
  return failure && { name: failure.name, code: failure.code };
}
`;

/** Resolves with the value that `code`, a module with `exhaust` and `failureOf`, gives to `report`. */
export async function runWithoutDescriptors(code: string): Promise<unknown> {
  const module = `${PRELUDE}const report = (value) => console.log(JSON.stringify(value));${code}`;
  const command = `ulimit -n ${MAX_DESCRIPTORS}; exec "$@"`;
  const node = [process.execPath, "--input-type=module", "--eval", module];
  const { stdout } = await promisify(execFile)("/bin/sh", ["-c", command, "sh", ...node]);
  return JSON.parse(stdout);
}
