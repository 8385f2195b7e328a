import { expect, test } from "vitest";
import { growingCache } from "./growing-cache.ts";

test("removes the least recently used entry beyond its limit", () => {
  const cache = growingCache<number>(3);
  for (const [index, key] of ["a", "b", "c"].entries()) cache.set(key, index);
  cache.get("a");
  cache.set("d", 3);
  expect(cache.size).toBe(3);
  expect(["a", "b", "c", "d"].map((key) => cache.get(key))).toEqual([0, undefined, 2, 3]);
});

test("stays within its limit when entries are replaced and deleted", () => {
  const cache = growingCache<number>(100);
  for (let index = 0; index < 10_000; index += 1) {
    cache.set(String(index % 150), index);
    if (index % 7 === 0) cache.delete(String(index % 150));
    expect(cache.size).toBeLessThanOrEqual(100);
  }
});

test("forgets an entry after its time", async () => {
  const cache = growingCache<number>(3, { ttlMs: 5 });
  cache.set("a", 1);
  await expect.poll(() => cache.get("a")).toBeUndefined();
});
