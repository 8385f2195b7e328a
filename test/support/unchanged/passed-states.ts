/** States in which all tests of a file have passed: on this machine, and where `npm run test:native` was run last. */

import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";

const ROOT = join(import.meta.dirname, "../../..");
const FOLDER = join(ROOT, "node_modules/.cache/parlance-passed-tests");
/** States by path, committed. */
export const RECORDED = join(ROOT, "test/native-suites.json");

export function passedHere(file: string): string | undefined {
  const record = recordOf(file);
  return existsSync(record) ? readFileSync(record, "utf8") : undefined;
}

export function notePassed(file: string, state: string): void {
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(recordOf(file), state);
}

export function hasPassed(file: string, state: string): boolean {
  return passedHere(file) === state || recordedStates()[relative(ROOT, file)] === state;
}

export function recordedStates(): Readonly<Record<string, string>> {
  return existsSync(RECORDED) ? JSON.parse(readFileSync(RECORDED, "utf8")) : {};
}

function recordOf(file: string): string {
  return join(FOLDER, createHash("sha256").update(relative(ROOT, file)).digest("hex"));
}
