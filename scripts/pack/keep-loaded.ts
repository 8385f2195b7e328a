/** Leaves of an installed tarball what the service can load: for archives, and for images by `node keep-loaded.ts FOLDER`. */

import { glob, readdir, rm, rmdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { nodeFileTrace } from "@vercel/nft";

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

/** Deletes what neither an import reaches nor code loads by its name. */
export async function keepLoaded(folder: string): Promise<void> {
  const modules = join(folder, "node_modules");
  const server = join(modules, "@parlance-inference/server");
  const entries = await Array.fromAsync(glob("dist/**/*.js", { cwd: server }));
  const ofService = entries.filter((entry) => !entry.includes("node_modules")).map((entry) => join(server, entry));
  // Below the packages' folder itself, everything would count as traced.
  // A build in a container may open 1,024 files.
  const limits = { fileIOConcurrency: 200 };
  const { fileList } = await nodeFileTrace(ofService, { base: folder, processCwd: folder, ...limits });
  const loaded = new Set([...fileList].map((file) => join(folder, file)));
  for await (const file of glob(LOADED_BY_NAME, { cwd: modules })) loaded.add(join(modules, file));
  for (const entry of await readdir(modules, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (!entry.isDirectory() && !loaded.has(path) && !/\/node-(linux|darwin|bin)-/.test(path)) await rm(path);
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

const [, , target] = process.argv;
if (import.meta.main && target !== undefined) await keepLoaded(resolve(target));
