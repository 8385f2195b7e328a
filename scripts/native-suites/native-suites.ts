/** The test files of which `npm test` runs one test while nothing has changed that they depend on. */

import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Returns their paths below `root`, sorted. */
export function nativeSuites(root: string): string[] {
  const files = globSync(["packages/*/src/**/*.test.ts", "src/**/*.test.ts", "test/**/*.test.ts"], { cwd: root });
  return files.filter((file) => readFileSync(join(root, file), "utf8").includes("oncePerState(import.meta")).sort();
}
