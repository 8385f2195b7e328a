/** Runs before `npm pack`: compiles the code, copies vendored packages and writes the tarball's package.json. */

import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { copyFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { build } from "./build.ts";
import { packedManifest, ROOT } from "./packed-manifest.ts";
import { copyVendoredPackages, vendoredPackages } from "./vendored-packages.ts";

const MANIFEST = join(ROOT, "package.json");
const DIST = join(ROOT, "dist");
const BACKUP = join(ROOT, "node_modules/.package.json.before-pack");

// A previous `npm pack` was interrupted.
if (existsSync(BACKUP)) await rename(BACKUP, MANIFEST);
const manifest = packedManifest();
const imported = await build(DIST);
await copyVendoredPackages(DIST);
for (const script of ["build-console.mjs", "build-docs.mjs"]) {
  await promisify(execFile)(process.execPath, [join(ROOT, "scripts", script), "--force"]);
}

const available = new Set([...Object.keys(manifest.dependencies ?? {}), ...vendoredPackages().map(({ name }) => name)]);
const missing = [...imported].filter((name) => !available.has(name));
if (missing.length > 0) throw new Error(`The code imports packages that no package.json lists: ${missing.join(", ")}`);

await copyFile(MANIFEST, BACKUP);
await writeFile(MANIFEST, `${JSON.stringify(manifest, undefined, 2)}\n`);
