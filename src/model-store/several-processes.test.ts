import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdir, readdir, readFile, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { HubServer } from "../../test/support/models/hub-server.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../../test/support/service/temporary-directory.ts";
import { createLogger } from "../kernel/logger.ts";
import { tryLock } from "../kernel/process/file-lock.ts";
import { ModelStore } from "./model-store.ts";
import { HuggingFaceSource } from "./sources/hugging-face.ts";
import { NpmSource } from "./sources/npm.ts";
import { PypiSource } from "./sources/pypi.ts";

const content = randomBytes(150_000);
const CHILD = join(import.meta.dirname, "../../test/support/models/pull-child.ts");
const REFERENCE = "owner/repo/model.gguf";

let hub: HubServer;
let folder: TemporaryDirectory;
let children: ChildProcess[];

beforeEach(async () => {
  hub = await HubServer.start();
  hub.add("owner/repo/resolve/main/model.gguf", content);
  folder = await temporaryDirectory();
  children = [];
});

afterEach(async () => {
  for (const child of children) {
    if (child.exitCode === null && child.signalCode === null && child.kill("SIGKILL")) await once(child, "exit");
  }
  await hub[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

/** A pull in a child process, with its output. */
function pullElsewhere(): { child: ChildProcess; output: () => string } {
  const child = spawn(process.execPath, [CHILD, folder.path, hub.endpoint, REFERENCE], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  children.push(child);
  let output = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  return { child, output: () => output };
}

function openStore(): ModelStore {
  return new ModelStore({
    directory: folder.path,
    manifest: [],
    sources: {
      "hugging-face": new HuggingFaceSource({
        endpoint: hub.endpoint,
        token: undefined,
        offline: false,
        retryDelayMs: 1,
      }),
      pypi: new PypiSource(),
      npm: new NpmSource({ projectDirectory: folder.path }),
    },
    logger: createLogger("silent"),
  });
}

const pullHere = () => openStore().pull({ hf: REFERENCE }, { signal: new AbortController().signal });

test("shares one download between two processes that pull the same model", async () => {
  const { promise: held, resolve: letGo } = Promise.withResolvers<void>();
  hub.hold = held;
  const pulls = [pullElsewhere(), pullElsewhere()];
  const allOutput = () => pulls.map(({ output }) => output()).join("");
  await expect.poll(allOutput).toContain('"receivedBytes":1}');
  await expect.poll(allOutput).toContain('"phase":"waiting"');
  letGo();
  await Promise.all(pulls.map(({ child }) => once(child, "close")));
  const path = join(folder.path, "hf/owner/repo/model/model.gguf");
  for (const { output } of pulls) expect(output().trim().split("\n").at(-1)).toBe(JSON.stringify({ path }));
  expect(hub.requestsTo("bytes")).toHaveLength(1);
  expect(await readFile(path)).toEqual(content);
});

test("takes over the lock and the partial download of a killed process", async () => {
  hub.hold = new Promise(() => {});
  const { child, output } = pullElsewhere();
  await expect.poll(output).toContain('"receivedBytes":1}');
  child.kill("SIGKILL");
  await once(child, "exit");
  hub.hold = undefined;
  expect(await readFile((await pullHere()).path)).toEqual(content);
  expect(hub.requestsTo("bytes").map(({ range }) => range)).toEqual([undefined, "bytes=1-"]);
  expect(await readdir(join(folder.path, ".partial"))).toEqual([]);
});

test("refuses to remove a model that another process is pulling", async () => {
  await pullHere();
  const store = openStore();
  const [lockFile = ""] = await readdir(join(folder.path, ".locks"));
  const held = tryLock(join(folder.path, ".locks", lockFile));
  await expect(store.remove(`hf:${REFERENCE}`)).rejects.toMatchObject({ kind: "conflict" });
  held?.release();
  await store.remove(`hf:${REFERENCE}`);
  expect(await store.list()).toEqual([]);
});

test("removes temporary files of dead processes except downloads of the last week", async () => {
  const partial = (name: string) => join(folder.path, ".partial", name);
  for (const name of ["dead", "old", "recent", "living"]) {
    await mkdir(join(partial(name), "scratch"), { recursive: true });
    await mkdir(join(partial(name), "unfinished"), { recursive: true });
    await writeFile(join(partial(name), "scratch", "wheel"), "x");
  }
  for (const name of ["old", "recent"]) await writeFile(join(partial(name), "unfinished", "model.gguf"), "x");
  const eightDaysAgo = new Date(Date.now() - 8 * 24 * 60 * 60 * 1000);
  await utimes(join(partial("old"), "unfinished", "model.gguf"), eightDaysAgo, eightDaysAgo);
  await mkdir(join(folder.path, ".locks"));
  const living = tryLock(join(folder.path, ".locks", "living.lock"));
  await pullHere();
  living?.release();
  expect((await readdir(join(folder.path, ".partial"), { recursive: true })).sort()).toEqual([
    "living",
    "living/scratch",
    "living/scratch/wheel",
    "living/unfinished",
    "recent",
    "recent/unfinished",
    "recent/unfinished/model.gguf",
  ]);
});
