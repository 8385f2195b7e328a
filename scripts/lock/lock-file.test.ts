import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { type Lock, withoutIntegrity } from "./lock-file.ts";

/**
 * Optional packages of other platforms that the registry in use did not have when they were locked. Remove those whose
 * hashes `npm run lock-integrity` finds.
 */
const NOT_OBTAINABLE: readonly string[] = [
  "@node-llama-cpp/linux-riscv64@3.22.1",
  "@node-llama-cpp/mac-arm64-metal@3.22.1",
  "@node-llama-cpp/mac-x64@3.22.1",
  "@node-llama-cpp/win-arm64@3.22.1",
  "@node-llama-cpp/win-x64@3.22.1",
];

const lock = JSON.parse(readFileSync("package-lock.json", "utf8")) as Lock;

test("package-lock.json has the hash of every package, except of other platforms that were not obtainable", () => {
  const unverified = withoutIntegrity(lock);
  expect(unverified.filter(({ isOptional }) => !isOptional)).toEqual([]);
  expect([...new Set(unverified.map(({ name, version }) => `${name}@${version}`))].sort()).toEqual(NOT_OBTAINABLE);
});

test("finds a package without a hash, whatever it is installed as", () => {
  const packages = {
    "": { version: "1.0.0" },
    "packages/own": { version: "0.1.0" },
    "node_modules/own": { link: true },
    "node_modules/checked": { version: "1.0.0", integrity: "sha512-AA==" },
    "node_modules/a/node_modules/alias": { name: "real", version: "2.0.0", optional: true },
  };
  expect(withoutIntegrity({ packages })).toEqual([
    { path: "node_modules/a/node_modules/alias", name: "real", version: "2.0.0", isOptional: true },
  ]);
});

test("package-lock.json says which packages are for musl, so that npm installs no second build beside that for glibc", () => {
  const unmarked = Object.entries(lock.packages).filter(([path, entry]) => /-musl$/.test(path) && !("libc" in entry));
  expect(unmarked.map(([path]) => path)).toEqual([]);
});
