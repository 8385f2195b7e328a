import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { type Lock, withoutIntegrity } from "./lock-file.ts";

/**
 * Families of optional packages whose other platforms the registry in use did not have when they were locked. Remove one
 * once `npm run lock-integrity` finds all its hashes.
 */
const NOT_OBTAINABLE: readonly string[] = ["@biomejs/cli-", "@node-llama-cpp/", "@oxc-parser/binding-"];

const lock = JSON.parse(readFileSync("package-lock.json", "utf8")) as Lock;
const familyOf = (name: string) => NOT_OBTAINABLE.find((family) => name.startsWith(family));

test("package-lock.json has the hash of every package, except of other platforms that were not obtainable", () => {
  const unverified = withoutIntegrity(lock);
  expect(unverified.filter(({ name, isOptional }) => !isOptional || familyOf(name) === undefined)).toEqual([]);
  expect([...new Set(unverified.map(({ name }) => familyOf(name)))].sort()).toEqual([...NOT_OBTAINABLE]);
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
