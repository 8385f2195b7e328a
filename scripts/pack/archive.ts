/**
 * Builds what `deploy/install/install.sh` installs: `npm run archive [-- --without-local] [--out FOLDER] [--tarball FILE]`.
 * An archive for this platform with its own Node.js, the service and only the files that it can load; beside it, its line
 * in SHA256SUMS.
 */

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { chmod, cp, glob, mkdir, mkdtempDisposable, readdir, readFile, rm, rmdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { parseArgs } from "node:util";
import { nodeFileTrace } from "@vercel/nft";
import { create } from "tar";
import { ROOT } from "./packed-manifest.ts";

/** Files that code finds by name while it runs, which no import states. */
const LOADED_BY_NAME = [
  "**/package.json",
  "**/{LICENSE,LICENCE,COPYING,NOTICE}*",
  "@parlance-inference/server/{assets,console,dist-docs}/**",
  "@parlance-inference/server/dist/packages/*/assets/**",
  "@parlance-inference/server/dist/node_modules/onnxruntime-node/bin/**",
  "@parlance-inference/server/dist/node_modules/node-llama-cpp/llama/**",
  "@node-llama-cpp/**",
  "@img/**",
  "better-sqlite3/prebuilds/**",
  "@echogarden/**/*.{js,wasm}",
  "{pyodide,thread-stream,pino,@evan/opus,@humansignal/audio-file-decoder,unpdf}/**",
];
const LAUNCHER = `#!/bin/sh
# Runs Parlance with the Node.js beside it. In a folder without a service, commands find the one of this installation.
self=$(readlink -f "$0")
root=$(dirname "$(dirname "$self")")
: "\${PARLANCE_CHECKOUT:=\${PARLANCE_HOME:-\${XDG_DATA_HOME:-$HOME/.local/share}/parlance}/service}"
export PARLANCE_CHECKOUT
exec "$root/bin/node" --max-semi-space-size=16 "$root/node_modules/@parlance-inference/server/dist/cli/parlance.js" "$@"
`;

const { values } = parseArgs({
  options: {
    "without-local": { type: "boolean", default: false },
    out: { type: "string", default: ROOT },
    tarball: { type: "string" },
  },
});
const variant = values["without-local"] ? "gateway" : "full";
const out = resolve(process.env.INIT_CWD ?? ROOT, values.out);

await using scratch = await mkdtempDisposable(join(tmpdir(), "parlance-archive-"));
const tarball = values.tarball === undefined ? await packTarball(scratch.path) : resolve(values.tarball);
const { version } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8")) as { version: string };
const name = `parlance-${version}-${process.platform}-${process.arch}${variant === "gateway" ? "-gateway" : ""}`;
const folder = join(scratch.path, name);
await mkdir(folder);
run("npm", ["install", "--prefix", folder, "--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund", tarball]);
run(process.execPath, [join(ROOT, "deploy/image/prune.mjs"), folder, variant]);
await keepLoaded(join(folder, "node_modules"));
await addCommands(folder);
await pack();

async function packTarball(destination: string): Promise<string> {
  run("npm", ["run", "tarball", "--", "--pack-destination", destination]);
  const file = (await readdir(destination)).find((each) => each.endsWith(".tgz"));
  if (file === undefined) throw new Error("npm run tarball wrote no file.");
  return join(destination, file);
}

/** Deletes what neither an import reaches nor code loads by its name. */
async function keepLoaded(modules: string): Promise<void> {
  const server = join(modules, "@parlance-inference/server");
  const entries = await Array.fromAsync(glob("dist/**/*.js", { cwd: server }));
  const ofService = entries.filter((entry) => !entry.includes("node_modules")).map((entry) => join(server, entry));
  // Below the packages' folder itself, everything would count as traced.
  const base = dirname(modules);
  const { fileList } = await nodeFileTrace(ofService, { base, processCwd: base });
  const loaded = new Set([...fileList].map((file) => join(base, file)));
  for await (const file of glob(LOADED_BY_NAME, { cwd: modules })) loaded.add(join(modules, file));
  for (const entry of await readdir(modules, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (!entry.isDirectory() && !loaded.has(path) && !/\/node-(linux|darwin)-/.test(path)) await rm(path);
  }
  await removeEmpty(modules);
}

async function removeEmpty(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) await removeEmpty(join(folder, entry.name));
  }
  // A folder that still has something stays.
  await rmdir(folder).catch(() => {});
}

async function addCommands(folder: string): Promise<void> {
  const bin = join(folder, "bin");
  const [nodeFolder = ""] = await Array.fromAsync(glob("node_modules/node-{linux,darwin}-*", { cwd: folder }));
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

async function pack(): Promise<void> {
  await mkdir(out, { recursive: true });
  const file = join(out, `${name}.tar.gz`);
  const options = { cwd: scratch.path, gzip: { level: 9 }, portable: true, mtime: new Date(0), file };
  await create(options, [basename(folder)]);
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
  await cp(join(ROOT, "deploy/install/install.sh"), join(dirname(file), "install.sh"));
  console.log(file);
}

function run(program: string, words: readonly string[]): void {
  execFileSync(program, words, { cwd: ROOT, stdio: "inherit" });
}
