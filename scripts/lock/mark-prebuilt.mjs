/**
 * Marks the packages with prebuilt binaries in package-lock.json, where npm 10 alone looks before it compiles a package
 * that has a binding.gyp: https://github.com/npm/cli/issues/3341. npm drops the mark when it writes the file, so this
 * runs as the `prepare` script. It is JavaScript because it also runs on Node 20.
 */

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

const root = resolve(process.argv[2] ?? ".");
const file = join(root, "package-lock.json");
const read = (path) => JSON.parse(readFileSync(path, "utf8"));

// The packed tarball and its installations have no lock file.
const lock = existsSync(file) ? read(file) : { packages: {} };
const unmarked = Object.entries(lock.packages).filter(([path, { gypfile }]) => {
  if (gypfile === false || !existsSync(join(root, path, "binding.gyp"))) return false;
  return read(join(root, path, "package.json")).gypfile === false;
});
for (const [, locked] of unmarked) locked.gypfile = false;
if (unmarked.length > 0) writeFileSync(file, `${JSON.stringify(lock, undefined, 2)}\n`);
