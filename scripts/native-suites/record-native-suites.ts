/**
 * Runs all tests of the suites of native models, FFmpeg and Python, and records the states in which they passed, so that
 * `npm test` of a clone runs one test of each. Usage: npm run test:native. Ends with 1 if a suite is not complete.
 */

import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { passedHere, RECORDED } from "../../test/support/unchanged/passed-states.ts";
import { stateOf } from "../../test/support/unchanged/state-of.ts";
import { nativeSuites } from "./native-suites.ts";

const ROOT = join(import.meta.dirname, "../..");

const files = nativeSuites(ROOT);
const { status } = spawnSync(process.execPath, ["node_modules/vitest/vitest.mjs", "run", ...files], {
  cwd: ROOT,
  stdio: "inherit",
});
const states = files.map((file) => [file, stateOf(join(ROOT, file), ROOT)] as const);
const passed = states.filter(([file, state]) => passedHere(join(ROOT, file)) === state);
writeFileSync(RECORDED, `${JSON.stringify(Object.fromEntries(passed), null, 2)}\n`);
const missing = files.filter((file) => !passed.some(([each]) => each === file));
for (const file of missing) console.log(`not recorded, as not all of its tests ran and passed: ${file}`);
process.exitCode = status !== 0 || missing.length > 0 ? 1 : 0;
