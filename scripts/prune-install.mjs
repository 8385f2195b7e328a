/**
 * Deletes from node_modules what this platform cannot run, and sources that are never compiled: 420 MB. The `prepare`
 * script runs it after an installation. It is JavaScript because it also runs on Node 20.
 */

import { existsSync, readdirSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";

const modules = resolve(process.argv[2] ?? ".", "node_modules");
const { platform, arch } = process;

/** Deletes the entries of a folder whose name does not match, if one does: otherwise this platform is an unknown one. */
function keepOnly(folder, isKept) {
  const path = join(modules, folder);
  const names = existsSync(path) ? readdirSync(path) : [];
  if (!names.some(isKept)) return;
  for (const name of names) if (!isKept(name)) remove(join(folder, name));
}

function remove(path) {
  rmSync(join(modules, path), { recursive: true, force: true });
}

/** A checkout only: an installation of the tarball shares its node_modules with others. */
if (existsSync(resolve(process.argv[2] ?? ".", "package-lock.json"))) {
  const onnxRuntime = join("onnxruntime-node", "bin");
  for (const version of existsSync(join(modules, onnxRuntime)) ? readdirSync(join(modules, onnxRuntime)) : []) {
    keepOnly(join(onnxRuntime, version), (name) => name === platform);
    keepOnly(join(onnxRuntime, version, platform), (name) => name === arch);
  }
  keepOnly(join("better-sqlite3", "prebuilds"), (name) => new RegExp(`^${platform}(musl)?-${arch}\\.node$`).test(name));
  keepOnly(join("js-tiktoken", "dist", "ranks"), (name) => name.startsWith("cl100k_base."));
  // All ranks in one file each; the service imports js-tiktoken/lite.
  for (const name of ["index.js", "index.cjs"]) remove(join("js-tiktoken", "dist", name));
  // Headers for native modules, which all come built.
  for (const name of readdirSync(modules)) {
    if (/^node-(bin-)?(linux|darwin|win)/.test(name))
      for (const folder of ["include", "share"]) remove(join(name, folder));
  }
  const llamaPlatform = `${platform === "darwin" ? "mac" : platform === "win32" ? "win" : platform}-${arch}`;
  keepOnly("@node-llama-cpp", (name) => name.startsWith(llamaPlatform));
  // llama.cpp's sources, as a Git bundle, for platforms without a library.
  if (existsSync(join(modules, "@node-llama-cpp"))) remove(join("node-llama-cpp", "llama", "gitRelease.bundle"));
  if (existsSync(join(modules, "better-sqlite3", "prebuilds"))) remove(join("better-sqlite3", "deps"));
}
