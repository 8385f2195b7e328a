import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../../test/support/service/temporary-directory.ts";

const SCRIPT = join(import.meta.dirname, "mark-prebuilt.mjs");

test("marks packages that ship binaries beside a binding.gyp, and no others", async () => {
  await using folder = await temporaryDirectory();
  const file = join(folder.path, "package-lock.json");
  const names = ["prebuilt", "compiled", "plain"];
  for (const name of names) {
    const directory = join(folder.path, "node_modules", name);
    await mkdir(directory, { recursive: true });
    await writeFile(join(directory, "package.json"), name === "prebuilt" ? '{ "gypfile": false }' : "{}");
    if (name !== "plain") await writeFile(join(directory, "binding.gyp"), "{}");
  }
  const packages = Object.fromEntries(names.map((name) => [`node_modules/${name}`, { version: "1.0.0" }]));
  await writeFile(file, JSON.stringify({ packages }));
  execFileSync(process.execPath, [SCRIPT, folder.path]);
  expect(JSON.parse(readFileSync(file, "utf8")).packages).toEqual({
    "node_modules/prebuilt": { version: "1.0.0", gypfile: false },
    "node_modules/compiled": { version: "1.0.0" },
    "node_modules/plain": { version: "1.0.0" },
  });
});

test("package-lock.json marks better-sqlite3, which npm 10 would compile otherwise", () => {
  const { packages } = JSON.parse(readFileSync("package-lock.json", "utf8"));
  expect(packages["node_modules/better-sqlite3"], "run `npm run prepare`").toHaveProperty("gypfile", false);
});
