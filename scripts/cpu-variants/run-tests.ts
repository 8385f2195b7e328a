/**
 * Runs the tests that evaluate a GGUF model once with each of ggml's CPU libraries that this processor can run.
 * llama.cpp chooses the best one, so other processors get other roundings, and other words.
 *
 *   node scripts/cpu-variants/run-tests.ts [--only haswell,zen4] [VITEST FILTER ...]
 *
 * Hides the other libraries in node_modules for that time: run nothing else in this checkout meanwhile.
 */

import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { findLibraries, useOnly } from "./libraries.ts";
import { findModelTests } from "./model-tests.ts";

/** The plain instructions of x64 take some ten times as long. */
const TIMEOUTS = ["--testTimeout=900000", "--hookTimeout=900000"];

const { values, positionals } = parseArgs({ options: { only: { type: "string" } }, allowPositionals: true });
const { folder, variants } = findLibraries();
const chosen = values.only?.split(",") ?? variants;
const strange = chosen.filter((variant) => !variants.includes(variant));
if (strange.length > 0) {
  console.error(`No such variant: ${strange.join(", ")}. Here are ${variants.join(", ")}.`);
  process.exit(2);
}
const files = positionals.length > 0 ? positionals : findModelTests();
const results: [variant: string, result: string][] = [];
for (const variant of chosen) {
  using _only = useOnly(folder, variant);
  results.push([variant, runsHere() ? runTests(variant) : "skipped: this processor lacks its instructions"]);
}
console.log(`\n${results.map(([variant, result]) => `${variant.padEnd(16)}${result}`).join("\n")}`);
process.exitCode = results.some(([, result]) => result === "failed") ? 1 : 0;

function runsHere(): boolean {
  const loading = join(import.meta.dirname, "load-binding.ts");
  return spawnSync(process.execPath, [loading], { stdio: "ignore" }).status === 0;
}

function runTests(variant: string): "passed" | "failed" {
  console.log(`\n### ${variant}`);
  const { status } = spawnSync("npx", ["vitest", "run", ...TIMEOUTS, ...files], { stdio: "inherit" });
  return status === 0 ? "passed" : "failed";
}
