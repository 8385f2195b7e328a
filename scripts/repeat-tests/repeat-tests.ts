/**
 * Runs all tests several times on a quiet machine, then beside two busy loops for each core, and prints what failed in
 * which run: a test that fails in some only depends on time. What Vitest printed of a run that failed is kept. Usage: node scripts/repeat-tests/repeat-tests.ts
 * [--quiet RUNS] [--busy RUNS] [FILTER…], by default 5 runs of each kind. Ends with 1 if a test failed.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, open, readFile, rm } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { failedTests } from "./failed-tests.ts";

const LOOPS_PER_CORE = 2;
/**
 * Beside busy loops, the same work takes some times the CPU time, since caches and the units of a core are shared: what
 * exceeds the limit of a quiet machine is no fault there.
 */
const BUSY_STALL_LIMIT_MS = "1200";

const { values: runs, positionals: filters } = parseArgs({
  options: { quiet: { type: "string", default: "5" }, busy: { type: "string", default: "5" } },
  allowPositionals: true,
});
const folder = await mkdtemp(join(tmpdir(), "parlance-tests-"));
try {
  for (const kind of ["quiet", "busy"] as const) {
    for (let run = 1; run <= Number(runs[kind]); run += 1) await runTests(`${kind} ${run}`, kind === "busy");
  }
} finally {
  if (process.exitCode === 1) console.log(`What Vitest printed is in ${folder}`);
  else await rm(folder, { recursive: true, force: true });
}

async function runTests(name: string, isBusy: boolean): Promise<void> {
  const report = join(folder, `${name.replace(" ", "-")}.json`);
  const beganAt = performance.now();
  const loops = isBusy ? Array.from({ length: LOOPS_PER_CORE * availableParallelism() }, startLoop) : [];
  try {
    const reporters = ["--reporter=json", `--outputFile.json=${report}`, "--reporter=default"];
    const vitest = ["node_modules/vitest/vitest.mjs", "run", ...reporters, ...filters];
    await using printed = await open(report.replace(/json$/, "log"), "w");
    // Under this name, suites whose files have not changed since they passed are short.
    const { npm_lifecycle_event: _, ...environment } = process.env;
    const env = isBusy ? { STALL_LIMIT_MS: BUSY_STALL_LIMIT_MS, ...environment } : environment;
    const [code] = await once(
      spawn(process.execPath, vitest, { env, stdio: ["ignore", printed.fd, printed.fd] }),
      "exit",
    );
    const failed = failedTests(await readFile(report, "utf8").catch(() => ""), code !== 0);
    const minutes = ((performance.now() - beganAt) / 60_000).toFixed(1);
    console.log(`${name}: ${failed.length === 0 ? "green" : `${failed.length} failed`} after ${minutes} minutes`);
    for (const test of failed) console.log(`  ${test}`);
    if (failed.length > 0) process.exitCode = 1;
  } finally {
    for (const loop of loops) loop.kill("SIGKILL");
  }
}

/** Ends by itself with the process that started it. */
function startLoop(): ChildProcess {
  const program = `const parent = process.ppid; while (process.ppid === parent);`;
  return spawn(process.execPath, ["-e", program], { stdio: "ignore" });
}
