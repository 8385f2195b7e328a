import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../../test/support/service/temporary-directory.ts";
import { findLibraries, useOnly } from "./libraries.ts";

const LIBRARIES = ["libggml-base.so", "libggml-cpu-haswell.so", "libggml-cpu-x64.so", "libggml-cpu-zen4.so"];

test("hides the libraries of other variants for a time, also after a killed run", async () => {
  await using packages = await temporaryDirectory();
  const name = `${process.platform}-${process.arch}`;
  const bins = join(packages.path, name, "bins", name);
  mkdirSync(bins, { recursive: true });
  for (const library of LIBRARIES) writeFileSync(join(bins, library), "");
  const { folder, variants } = findLibraries(packages.path);
  expect(variants).toEqual(["haswell", "x64", "zen4"]);
  {
    using _only = useOnly(folder, "x64");
    expect(readdirSync(bins).filter((each) => each.endsWith(".so"))).toEqual(["libggml-base.so", "libggml-cpu-x64.so"]);
  }
  expect(readdirSync(bins)).toEqual(LIBRARIES);
  useOnly(folder, "zen4");
  findLibraries(packages.path);
  expect(readdirSync(bins)).toEqual(LIBRARIES);
});
