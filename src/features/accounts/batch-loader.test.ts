import { expect, test } from "vitest";
import { batchLoader } from "./batch-loader.ts";

test("loads concurrent requests in few sequential batches, each key once", async () => {
  const batches: (readonly string[])[] = [];
  let running = 0;
  let mostRunning = 0;
  const loader = batchLoader<number>(400, async (keys) => {
    running += 1;
    mostRunning = Math.max(mostRunning, running);
    batches.push(keys);
    await new Promise((resume) => setImmediate(resume));
    running -= 1;
    return new Map(keys.filter((key) => Number(key) % 2 === 0).map((key) => [key, Number(key)]));
  });
  const asked = Array.from({ length: 2_000 }, (_each, index) => String(index % 1_000));
  const found = await Promise.all(asked.map((key) => loader.load(key)));
  expect(found).toEqual(asked.map((key) => (Number(key) % 2 === 0 ? Number(key) : undefined)));
  expect(batches.map((batch) => batch.length)).toEqual([400, 400, 200]);
  expect(mostRunning).toBe(1);
});

test("rejects the requests of a failed batch and continues with the next", async () => {
  let attempts = 0;
  const loader = batchLoader<string>(10, async (keys) => {
    attempts += 1;
    if (attempts === 1) throw new Error("away");
    return new Map(keys.map((key) => [key, key]));
  });
  await expect(Promise.allSettled([loader.load("a"), loader.load("b")])).resolves.toMatchObject([
    { status: "rejected", reason: { message: "away" } },
    { status: "rejected" },
  ]);
  expect(await loader.load("a")).toBe("a");
});
