/** Stalls of the services that the tests of this process started. */

import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Stall } from "./stall-detector.ts";

/** Milliseconds of CPU time that a service may work without a turn; undefined where stalls are not detected. */
export const STALL_LIMIT_MS = process.env.STALL_LIMIT_MS === undefined ? undefined : Number(process.env.STALL_LIMIT_MS);

/** A frame of a file of tests, which Vitest imports with the time as its query. */
const OF_TEST = /\.test\.ts(?:\?[^:]*)?:/;

/** Folder in which services report; one for each process of tests, whose files share no modules. */
export function stallsFolder(): string {
  process.env.TEST_STALLS_FOLDER ??= createFolder();
  return process.env.TEST_STALLS_FOLDER;
}

function createFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "parlance-stalls-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Adds a stall of a service in this process, unless the work of the test itself took the time. */
export function addStall(stall: Stall): void {
  const frames = stall.stack.filter((frame) => !frame.includes("node_modules"));
  if (!frames.some((frame) => frame.includes("/src/")) || frames.some((frame) => OF_TEST.test(frame))) return;
  const frame = frames.find((each) => each.includes("/src/") || /\/(test|bench)\//.test(each));
  if (!frame?.includes("/src/")) return;
  appendFileSync(join(stallsFolder(), "in-process.jsonl"), `${JSON.stringify(stall)}\n`);
}

/** Returns what was reported since the last call. */
export function takeStalls(): Stall[] {
  const { TEST_STALLS_FOLDER: folder } = process.env;
  if (folder === undefined) return [];
  return readdirSync(folder).flatMap((name) => {
    const file = join(folder, name);
    const lines = readFileSync(file, "utf8").trimEnd().split("\n");
    rmSync(file);
    return lines.map((line) => JSON.parse(line) as Stall);
  });
}
