import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { content, folder, hub, openStore, publish, useHub } from "../../test/support/models/hub-store.ts";
import type { PullProgress } from "./pull-progress.ts";

useHub();
const never = new AbortController().signal;

describe("several callers", () => {
  test("share one download and its progress", async () => {
    publish();
    const store = openStore();
    const seen: PullProgress[][] = [[], [], []];
    const unobserve = store.observe((progress) => seen[2]?.push(progress));
    const pulls = [0, 1].map((index) =>
      store.pull({ model: "small" }, { signal: never, onProgress: (progress) => seen[index]?.push(progress) }),
    );
    const [first, second] = await Promise.all(pulls);
    unobserve();
    expect(first).toEqual(second);
    expect(hub.requestsTo("bytes")).toHaveLength(1);
    for (const progress of seen) {
      expect(progress).toContainEqual({
        model: "small",
        file: "small.gguf",
        phase: "fetching",
        source: "hugging-face",
        receivedBytes: content.length,
        totalBytes: content.length,
        completedBytes: 0,
        modelBytes: content.length,
      });
      expect(progress.filter(({ phase }) => phase === "stored")).toHaveLength(1);
    }
    expect(store.running()).toEqual([]);
  });

  test("can abort one by one, and the download ends with the last", async () => {
    publish();
    const { promise: held, resolve: letGo } = Promise.withResolvers<void>();
    hub.hold = held;
    const store = openStore();
    const [leaving, staying] = [new AbortController(), new AbortController()];
    const left = store.pull({ model: "small" }, { signal: leaving.signal });
    const stayed = store.pull({ model: "small" }, { signal: staying.signal });
    await expect.poll(() => store.running()[0]?.receivedBytes).toBe(1);
    leaving.abort(new Error("gone"));
    await expect(left).rejects.toThrow("gone");
    expect(store.running()).toHaveLength(1);
    letGo();
    expect(await readFile((await stayed).path)).toEqual(content);

    await store.remove("small");
    const { promise: heldAgain, resolve: letGoAgain } = Promise.withResolvers<void>();
    hub.hold = heldAgain;
    const only = new AbortController();
    const abandoned = store.pull({ model: "small" }, { signal: only.signal });
    await expect.poll(() => store.running()[0]?.receivedBytes).toBe(1);
    only.abort(new Error("gone too"));
    await expect(abandoned).rejects.toThrow("gone too");
    expect(store.running()).toEqual([]);
    await store.settled();
    expect(await readdir(join(folder.path, ".partial"), { recursive: true })).toHaveLength(4);
    letGoAgain();
    hub.hold = undefined;
    expect(await readFile((await store.pull({ model: "small" }, { signal: never })).path)).toEqual(content);
  });

  test("fail at once with an aborted signal", async () => {
    await expect(openStore().pull({ model: "small" }, { signal: AbortSignal.abort(new Error("no")) })).rejects.toThrow(
      "no",
    );
  });
});
