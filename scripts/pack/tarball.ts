/**
 * Builds the tarball: `npm run tarball [-- OPTIONS OF npm pack]`. The files to pack come together in a temporary folder, so
 * that an interruption leaves the checkout's package.json as it is.
 */

import { spawnSync } from "node:child_process";
import { cp, mkdtempDisposable, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "./build.ts";
import { packedManifest, ROOT } from "./packed-manifest.ts";
import { copyVendoredPackages, vendoredPackages } from "./vendored-packages.ts";

const COPIED = ["assets", "console/dist", "dist-docs", "LICENSE", "NOTICE", "README.md"];

await using folder = await mkdtempDisposable(join(tmpdir(), "parlance-pack-"));
const manifest = packedManifest();
const dist = join(folder.path, "dist");
const imported = await build(dist);
const available = new Set([...Object.keys(manifest.dependencies ?? {}), ...vendoredPackages().map(({ name }) => name)]);
const missing = [...imported].filter((name) => !available.has(name));
if (missing.length > 0) throw new Error(`The code imports packages that no package.json lists: ${missing.join(", ")}`);

await copyVendoredPackages(dist);
for (const script of ["build-console.mjs", "build-docs.mjs"])
  run(process.execPath, [join(ROOT, "scripts", script), "--force"]);
for (const path of COPIED) await cp(join(ROOT, path), join(folder.path, path), { recursive: true });
await writeFile(join(folder.path, "package.json"), `${JSON.stringify(manifest, undefined, 2)}\n`);
// npm names the file relative to the folder in which it was called.
run("npm", ["pack", folder.path, ...process.argv.slice(2)], process.env.INIT_CWD);

function run(program: string, words: readonly string[], cwd: string = ROOT): void {
  const { status, error } = spawnSync(program, words, { cwd, stdio: "inherit" });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`${program} ${words[0]} failed.`);
}
