/**
 * Runs all tests several times on a quiet machine, then as often beside two busy loops for each core, and prints which tests
 * failed in which run: one that fails in some only depends on time. Usage: node scripts/repeat-tests/repeat-tests.ts [RUNS
 * [FILTER…]], by default 5 runs of each kind. Ends with 1 if a test failed.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { failedTests } from "./failed-tests.ts";

const LOOPS_PER_CORE = 2;
const [runs = "5", ...filters] = process.argv.slice(2);
const folder = await mkdtemp(join(tmpdir(), "parlance-tests-"));
const failures = new Map<string, string[]>();
try {
  for (const kind of ["quiet", "busy"] as const) {
    for (let run = 1; run <= Number(runs); run += 1) await runTests(`${kind} ${run}`, kind === "busy");
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}
for (const [test, failedRuns] of failures) console.log(`${test}\n  failed in ${failedRuns.join(", ")}`);
if (failures.size > 0) process.exitCode = 1;

async function runTests(name: string, isBusy: boolean): Promise<void> {
  const report = join(folder, `${name.replace(" ", "-")}.json`);
  const loops = isBusy ? Array.from({ length: LOOPS_PER_CORE * availableParallelism() }, startLoop) : [];
  try {
    const vitest = ["node_modules/vitest/vitest.mjs", "run", "--reporter=json", `--outputFile=${report}`, ...filters];
    // Under this name, suites whose files have not changed since they passed are short.
    const { npm_lifecycle_event: _, ...env } = process.env;
    const [code] = await once(spawn(process.execPath, vitest, { env, stdio: ["ignore", "ignore", "inherit"] }), "exit");
    const failed = failedTests(await readFile(report, "utf8").catch(() => ""), code !== 0);
    for (const test of failed) failures.set(test, [...(failures.get(test) ?? []), name]);
    console.log(`${name}: ${failed.length === 0 ? "green" : `${failed.length} failed`}`);
  } finally {
    for (const loop of loops) loop.kill("SIGKILL");
  }
}

/** Ends by itself with the process that started it. */
function startLoop(): ChildProcess {
  const program = `const parent = process.ppid; while (process.ppid === parent);`;
  return spawn(process.execPath, ["-e", program], { stdio: "ignore" });
}
