/**
 * Finds the bundle of the sources as they are. This file is JavaScript, because a start from the bundle does not load
 * Node's TypeScript stripper.
 */

import { createHash } from "node:crypto";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join, resolve } from "node:path";

const ROOT = resolve(import.meta.dirname, "../..");
/** Packages bring their sources; `.package-lock.json` changes with what npm installs. */
const SOURCES = ["src", "packages", "scripts/bundle"];
const MANIFESTS = ["package.json", "package-lock.json", "node_modules/.package-lock.json"];

export const BUNDLES = join(ROOT, "node_modules/.cache/parlance-bundles");
/** Written into a bundle once it is complete. */
export const COMPLETE = "complete";

/**
 * Returns the folder of the bundle for the sources as they are, whose name depends on the size and the time of the last
 * change of each file.
 *
 * @returns {{ folder: string, executable: string, isComplete: boolean }}
 */
export function currentBundle() {
  const hash = createHash("sha1").update(process.version);
  for (const manifest of MANIFESTS) addFile(hash, join(ROOT, manifest));
  for (const folder of SOURCES) addFolder(hash, join(ROOT, folder));
  const folder = join(BUNDLES, hash.digest("hex"));
  return {
    folder,
    executable: join(folder, "src/cli/parlance.js"),
    isComplete: existsSync(join(folder, COMPLETE)),
  };
}

/**
 * @param {import("node:crypto").Hash} hash
 * @param {string} folder
 */
function addFolder(hash, folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      if (entry.name !== "node_modules" && entry.name !== "test") addFolder(hash, path);
    } else if (/(?<!\.test)\.(ts|mjs|json)$/.test(entry.name)) addFile(hash, path);
  }
}

/**
 * @param {import("node:crypto").Hash} hash
 * @param {string} path
 */
function addFile(hash, path) {
  const file = statSync(path, { throwIfNoEntry: false });
  hash.update(`${path} ${file?.size} ${file?.mtimeMs}\n`);
}
