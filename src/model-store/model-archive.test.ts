import { mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { create } from "tar";
import { beforeEach, expect, test } from "vitest";
import { content, entry, folder, hub, openStore, publish, useHub } from "../../test/support/models/hub-store.ts";
import { temporaryDirectory } from "../../test/support/service/temporary-directory.ts";
import { RECORD_NAME } from "./model-record.ts";

useHub();
const { signal } = new AbortController();
/** ID, and path in the store, of a file that is in no manifest. */
const OTHER = "hf:owner/repo/other.gguf";

let file: string;
let target: string;

beforeEach(async () => {
  file = join(folder.path, "models.tar");
  target = join(folder.path, "target");
  publish();
  hub.add("owner/repo/resolve/main/other.gguf", Buffer.from("GGUF of a stranger"));
  const store = openStore();
  await store.pull({ model: "small" }, { signal });
  await store.pull({ hf: "owner/repo/other.gguf" }, { signal });
  await store.export(["small", OTHER], file, signal);
});

/** A store on another machine, whose sources answer nothing. */
const away = () => openStore([entry({ sources: [] })], { offline: true }, target);

/** Replaces what the archive has, and writes it again. */
async function rewrite(change: (unpacked: string) => Promise<unknown>, ...added: string[]): Promise<void> {
  await using unpacked = await temporaryDirectory();
  for (const path of [`small/${RECORD_NAME}`, "small/small.gguf"]) {
    await mkdir(join(unpacked.path, "small"), { recursive: true });
    await writeFile(join(unpacked.path, path), await readFile(join(folder.path, path)));
  }
  await change(unpacked.path);
  await create({ cwd: unpacked.path, file, preservePaths: true }, ["small", ...added]);
}

test("brings models to a machine that cannot download them", async () => {
  const store = away();
  expect(await store.isPulled({ model: "small" })).toBe(false);
  expect((await store.import(file, signal)).toSorted()).toEqual([OTHER, "small"]);
  const { path } = await store.pull({ model: "small" }, { signal });
  expect(await readFile(path)).toEqual(content);
  const other = await store.pull({ hf: "owner/repo/other.gguf" }, { signal });
  expect(await readFile(other.path, "utf8")).toBe("GGUF of a stranger");
  expect((await store.list()).map(({ id, isIntact }) => [id, isIntact])).toEqual([
    ["small", true],
    [OTHER, true],
  ]);
  expect(await readdir(join(target, ".partial"))).toEqual([]);
});

test("writes the same bytes again, and brings in what is there", async () => {
  const store = away();
  await store.import(file, signal);
  expect(await store.import(file, signal)).toHaveLength(2);
  const again = join(folder.path, "again.tar");
  await store.export(["small", OTHER], again, signal);
  expect(await readFile(again)).toEqual(await readFile(file));
});

test("refuses to export a model that has changed or is not stored", async () => {
  await writeFile(join(folder.path, "small/small.gguf"), content.toReversed());
  await expect(openStore().export(["small"], file, signal)).rejects.toThrow(/^small: small.gguf: expected SHA-256/);
  await expect(openStore().export(["hf:a/b/c.gguf"], file, signal)).rejects.toThrow("is not in the model store");
});

test("refuses weights that are not those of the manifest, whatever the record says", async () => {
  const fake = content.toReversed();
  await rewrite(async (unpacked) => {
    await writeFile(join(unpacked, "small/small.gguf"), fake);
    const record = join(unpacked, "small", RECORD_NAME);
    const hash = Buffer.from(await crypto.subtle.digest("SHA-256", fake)).toString("hex");
    await writeFile(record, (await readFile(record, "utf8")).replace(/"sha256": "\w+"/, `"sha256": "${hash}"`));
  });
  await expect(away().import(file, signal)).rejects.toThrow(/^small.gguf of small is not the file with SHA-256/);
  expect(await away().isPulled({ model: "small" })).toBe(false);
});

test("writes nothing outside the store, and follows no link", async () => {
  const secret = join(folder.path, "secret");
  await writeFile(secret, content);
  await rewrite(async (unpacked) => {
    await writeFile(join(unpacked, "../outside"), "x");
    await rm(join(unpacked, "small/small.gguf"));
    await symlink(secret, join(unpacked, "small/small.gguf"));
  }, "../outside");
  await expect(away().import(file, signal)).rejects.toThrow(/is not a complete file|is not the file with SHA-256/);
  expect((await readdir(target)).filter((name) => !name.startsWith("."))).toEqual([]);
});

test.each([
  ["a file that is cut off", async () => writeFile(file, (await readFile(file)).subarray(0, 100_000))],
  ["another file", () => writeFile(file, "models")],
  ["an empty archive", () => writeFile(file, Buffer.alloc(1024))],
])("refuses %s", async (_name, change) => {
  await change();
  await expect(away().import(file, signal)).rejects.toThrow("is not a complete file of `parlance models export`");
  expect((await readdir(target)).filter((name) => !name.startsWith("."))).toEqual([]);
});

test("refuses a missing file", async () => {
  await expect(away().import(join(folder.path, "none.tar"), signal)).rejects.toThrow("cannot be read");
});
