/** What a test file depends on, as a hash: its imports, the packages of the lock file and Node.js. */

import { createHash } from "node:crypto";
import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/** Paths in imports, `new URL("…", import.meta.url)` and `join(import.meta.dirname, "…")`. */
const RELATIVE = /["'](\.{1,2}\/[^"'\n]+)["']/g;
const WORKSPACE = /["']@parlance-inference\/([\w-]+)(?:\/[^"']*)?["']/g;

/** Hashes the contents of `file` and of every file that it names, directly or not. `root` has package-lock.json. */
export function stateOf(file: string, root: string): string {
  const hash = createHash("sha256").update(`${process.version} ${process.arch}`);
  for (const path of [join(root, "package-lock.json"), ...namedBy(file, root)]) {
    hash.update(`\n${path.slice(root.length)}\n`).update(readFileSync(path));
  }
  return hash.digest("hex");
}

function namedBy(file: string, root: string): string[] {
  const visited = new Set<string>();
  const open = [file];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (visited.has(path)) continue;
    visited.add(path);
    if (!/\.(ts|mjs|js)$/.test(path)) continue;
    const text = readFileSync(path, "utf8");
    const folder = dirname(path);
    open.push(...[...text.matchAll(RELATIVE)].map(([, name = ""]) => resolve(folder, name)).filter(isFile));
    for (const [, name = ""] of text.matchAll(WORKSPACE)) open.push(...filesOf(join(root, "packages", name)));
  }
  return [...visited].sort();
}

function isFile(path: string): boolean {
  return existsSync(path) && statSync(path).isFile();
}

/** Without its tests. */
function filesOf(folder: string): string[] {
  const names = globSync("**/*", { cwd: folder, exclude: ["**/node_modules/**", "**/*.test.ts"] });
  return names.map((name) => join(folder, name)).filter(isFile);
}
