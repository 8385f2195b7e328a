import { randomBytes } from "node:crypto";
import { rm, statfs, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { HubServer } from "../../test/support/models/hub-server.ts";
import { loadConfigText } from "../../test/support/service/load-config-text.ts";
import { temporaryDirectory } from "../../test/support/service/temporary-directory.ts";
import { createLogger } from "../kernel/logger.ts";
import type { ManifestEntry } from "../model-store/manifest/manifest-entry.ts";
import { ModelStore } from "../model-store/model-store.ts";
import { HuggingFaceSource } from "../model-store/sources/hugging-face.ts";
import { NpmSource } from "../model-store/sources/npm.ts";
import { PypiSource } from "../model-store/sources/pypi.ts";
import { downloadDefaultModels } from "./background-download.ts";

const CONTENT = randomBytes(200_000);

/** A hub with one model, and a store that has pulled nothing. */
async function startHub(bytes = CONTENT.length) {
  const hub = await HubServer.start();
  const folder = await temporaryDirectory();
  onTestFinished(async () => {
    await hub[Symbol.asyncDispose]();
    await folder[Symbol.asyncDispose]();
  });
  const sha256 = hub.add("owner/chat/resolve/main/chat.gguf", CONTENT);
  const large: ManifestEntry = {
    id: "large",
    task: "chat",
    engine: "llama-cpp",
    isDefault: false,
    license: "MIT",
    description: "",
    preferredOn: { freeBytes: 4e9 },
    files: [
      {
        name: "chat.gguf",
        bytes,
        sha256,
        sources: [{ source: "hugging-face", repository: "owner/chat", revision: "main", path: "chat.gguf" }],
      },
    ],
  };
  const openStore = () =>
    new ModelStore({
      directory: folder.path,
      manifest: [large],
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
  return { hub, openStore, directory: folder.path };
}

/** Runs a background download and records its events in order. */
async function download(store: ModelStore, signal = new AbortController().signal) {
  const events: string[] = [];
  const { config } = await loadConfigText("");
  const ids = downloadDefaultModels(
    {
      config,
      store,
      machine: { cores: 2, freeBytes: 5e9, budgetBytes: 16e9 },
      onDownloaded: async () => void events.push("refresh"),
      onProgress: ({ phase, receivedBytes }) => {
        if (phase === "fetching" && receivedBytes > 0) events.push("progress");
        if (phase === "failed") events.push("failed");
      },
      logger: createLogger("silent"),
      backoff: { initial: 10, max: 10 },
    },
    {
      onBegin: ({ id, bytes }) => events.push(`begin ${id} ${bytes}`),
      onFailure: (_id, reason) => events.push(`failure: ${reason}`),
    },
    signal,
  );
  return { ids, events };
}

test("announces the size, downloads with progress and updates the catalog", async () => {
  const { openStore } = await startHub();
  const { ids, events } = await download(openStore());
  expect(await ids).toEqual(["large"]);
  expect(events[0]).toBe(`begin large ${CONTENT.length}`);
  expect(events.at(-1)).toBe("refresh");
  expect(events).toContain("progress");
  const again = await download(openStore());
  expect(await again.ids).toEqual([]);
  expect(again.events).toEqual([]);
});

test("tries again after a failure, and reports only the first one", async () => {
  const { hub, openStore } = await startHub();
  hub.statuses.push(...Array<number>(12).fill(503));
  const { ids, events } = await download(openStore());
  expect(await ids).toEqual(["large"]);
  const failures = events.filter((event) => event.startsWith("fail"));
  expect(failures).toEqual(["failed", expect.stringMatching(/^failure: .*503/)]);
});

test("tries again after an error of the file system", async () => {
  const { directory, openStore } = await startHub();
  // In the place of the folder for unfinished downloads.
  const inTheWay = join(directory, ".partial");
  await writeFile(inTheWay, "");
  const { ids, events } = await download(openStore());
  ids.catch(() => {});
  await expect.poll(() => events).toContainEqual(expect.stringMatching(/^failure: .*(EEXIST|ENOTDIR)/));
  await rm(inTheWay);
  expect(await ids).toEqual(["large"]);
});

test("resumes in the next process when the service stops during the download", async () => {
  const { hub, openStore } = await startHub();
  const answering = Promise.withResolvers<void>();
  hub.hold = answering.promise;
  const stopping = new AbortController();
  const store = openStore();
  const { ids, events } = await download(store, stopping.signal);
  await expect.poll(() => events).toContain("progress");
  stopping.abort(new Error("stopped"));
  await expect(ids).rejects.toThrow("stopped");
  answering.resolve();
  await store.settled();

  hub.hold = undefined;
  expect(await (await download(openStore())).ids).toEqual(["large"]);
  expect(hub.requestsTo("bytes").at(-1)?.range).toBe("bytes=1-");
});

test("does not fill the disk", async () => {
  const { directory } = await startHub();
  const { bavail, bsize } = await statfs(directory);
  const tooLarge = await startHub(Math.floor(bavail * bsize - 0.5e9));
  const stopping = new AbortController();
  const { ids, events } = await download(tooLarge.openStore(), stopping.signal);
  await expect.poll(() => events).toContainEqual(expect.stringContaining("The disk is full"));
  stopping.abort(new Error("stopped"));
  await expect(ids).rejects.toThrow("stopped");
  expect(tooLarge.hub.seen).toEqual([]);
});
