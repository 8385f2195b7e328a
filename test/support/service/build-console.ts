/** Builds the console once before the tests, so that their services do not each begin to build it. */

import { execFile } from "node:child_process";
import { promisify } from "node:util";

export default async function buildConsole(): Promise<void> {
  await promisify(execFile)(process.execPath, ["scripts/build-console.mjs"]);
}
