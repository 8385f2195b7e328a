/**
 * Builds what `deploy/install/install.sh` installs: `npm run archive [-- --without-local | --models] [--out FOLDER]
 * [--tarball FILE]`. An archive for this platform with its own Node.js, the service and only the files that it can load, and
 * its bill of materials; or the default models, for machines that cannot download them. Beside it, its line in SHA256SUMS.
 */

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { chmod, cp, glob, mkdir, mkdtempDisposable, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { parseArgs } from "node:util";
import { create } from "tar";
import { MANIFEST } from "../../src/model-store/manifest/manifest.ts";
import { keepLoaded } from "./keep-loaded.ts";
import { ROOT } from "./packed-manifest.ts";

const LAUNCHER = `#!/bin/sh
# Runs Parlance with the Node.js beside it. In a folder without a service, commands find the one of this installation.
self=$(readlink -f "$0")
root=$(dirname "$(dirname "$self")")
: "\${PARLANCE_CHECKOUT:=\${PARLANCE_HOME:-\${XDG_DATA_HOME:-$HOME/.local/share}/parlance}/service}"
PARLANCE_LAUNCHER=$0
export PARLANCE_CHECKOUT PARLANCE_LAUNCHER
exec "$root/bin/node" --max-semi-space-size=16 "$root/node_modules/@parlance-inference/server/dist/cli/parlance.js" "$@"
`;

const { values } = parseArgs({
  options: {
    "without-local": { type: "boolean", default: false },
    models: { type: "boolean", default: false },
    out: { type: "string", default: ROOT },
    tarball: { type: "string" },
  },
});
const variant = values["without-local"] ? "gateway" : "full";
const out = resolve(process.env.INIT_CWD ?? ROOT, values.out);

const { version } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8")) as { version: string };

await mkdir(out, { recursive: true });
await (values.models ? exportModels() : buildArchive());
await cp(join(ROOT, "deploy/install/install.sh"), join(out, "install.sh"));

async function buildArchive(): Promise<void> {
  await using scratch = await mkdtempDisposable(join(tmpdir(), "parlance-archive-"));
  const tarball = values.tarball === undefined ? await packTarball(scratch.path) : resolve(values.tarball);
  const name = `parlance-${version}-${process.platform}-${process.arch}${variant === "gateway" ? "-gateway" : ""}`;
  const folder = join(scratch.path, name);
  await mkdir(folder);
  run("npm", ["install", "--prefix", folder, "--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund", tarball]);
  run(process.execPath, [join(ROOT, "deploy/image/prune.mjs"), folder, variant]);
  await keepLoaded(folder);
  await addCommands(folder);
  const file = join(out, `${name}.tar.gz`);
  await create({ cwd: scratch.path, gzip: { level: 9 }, portable: true, mtime: new Date(0), file }, [name]);
  await addChecksum(file);
  await cp(join(folder, "sbom.cdx.json"), join(out, `${name}.cdx.json`));
}

async function packTarball(destination: string): Promise<string> {
  run("npm", ["run", "tarball", "--", "--pack-destination", destination]);
  const file = (await readdir(destination)).find((each) => each.endsWith(".tgz"));
  if (file === undefined) throw new Error("npm run tarball wrote no file.");
  return join(destination, file);
}

async function addCommands(folder: string): Promise<void> {
  const bin = join(folder, "bin");
  const [nodeFolder = ""] = await Array.fromAsync(glob("node_modules/node-{linux,darwin,bin}-*", { cwd: folder }));
  await rm(bin, { recursive: true });
  await mkdir(bin);
  await cp(join(folder, nodeFolder, "bin/node"), join(bin, "node"));
  await rm(join(folder, nodeFolder), { recursive: true });
  for (const file of ["data", "package-lock.json"]) await rm(join(folder, file), { recursive: true });
  // Debug symbols: 18 MB.
  try {
    execFileSync("strip", [join(bin, "node")]);
  } catch {
    console.warn("strip is not installed: Node.js keeps its symbols.");
  }
  await writeFile(join(bin, "parlance"), LAUNCHER);
  await chmod(join(bin, "parlance"), 0o755);
  await cp(join(ROOT, "deploy/install/install.sh"), join(folder, "install.sh"));
  for (const file of ["LICENSE", "NOTICE"]) await cp(join(ROOT, file), join(folder, file));
}

/** Weights are the same for every platform. */
async function exportModels(): Promise<void> {
  const file = join(out, `parlance-${version}-models.tar`);
  const models = MANIFEST.filter(({ isDefault }) => isDefault).map(({ id }) => id);
  for (const id of models) parlance(["models", "pull", id]);
  parlance(["models", "export", file, ...models]);
  await addChecksum(file);
}

function parlance(words: readonly string[]): void {
  run(process.execPath, [join(ROOT, "src/cli/parlance.ts"), ...words]);
}

async function addChecksum(file: string): Promise<void> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(file), hash);
  const sums = join(out, "SHA256SUMS");
  const others = (await readFile(sums, "utf8").catch(() => ""))
    .split("\n")
    .filter((line) => line !== "" && !line.endsWith(`  ${basename(file)}`));
  const lines = [...others, `${hash.digest("hex")}  ${basename(file)}`].sort((a, b) =>
    a.slice(64) < b.slice(64) ? -1 : 1,
  );
  await writeFile(sums, `${lines.join("\n")}\n`);
  console.log(file);
}

function run(program: string, words: readonly string[]): void {
  execFileSync(program, words, { cwd: ROOT, stdio: "inherit" });
}
