/** Before `npm pack`: compiles the code, copies what is vendored, and puts the tarball's package.json in place. */

import { existsSync } from "node:fs";
import { copyFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { build } from "./build.ts";
import { packedManifest, ROOT } from "./packed-manifest.ts";
import { copyVendoredPackages, vendoredPackages } from "./vendored-packages.ts";

const MANIFEST = join(ROOT, "package.json");
const DIST = join(ROOT, "dist");
const BACKUP = join(ROOT, "node_modules/.package.json.before-pack");

// An earlier pack was interrupted.
if (existsSync(BACKUP)) await rename(BACKUP, MANIFEST);
const manifest = packedManifest();
const imported = await build(DIST);
await copyVendoredPackages(DIST);

const available = new Set([...Object.keys(manifest.dependencies ?? {}), ...vendoredPackages().map(({ name }) => name)]);
const missing = [...imported].filter((name) => !available.has(name));
if (missing.length > 0) throw new Error(`Imported, but a dependency of no package.json: ${missing.join(", ")}`);

await copyFile(MANIFEST, BACKUP);
await writeFile(MANIFEST, `${JSON.stringify(manifest, undefined, 2)}\n`);
