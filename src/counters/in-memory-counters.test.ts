import { expect, test } from "vitest";
import { InMemoryCounters } from "./in-memory-counters.ts";

test("evicts what records had with its window", async () => {
  let now = 0;
  const counters = new InMemoryCounters(() => now);
  const used = async () => {
    const nothing = { key: "spend", amount: 0, limit: 0, windowSeconds: 60, isReserved: false };
    return (await counters.take([nothing])).used.spend;
  };
  await counters.raise("spend", 60, 5);
  now = 30_000;
  await counters.raise("spend", 60, 7);
  expect(await used()).toBe(7);
  now = 61_000;
  expect(await used()).toBe(2);
  now = 91_000;
  expect(await used()).toBe(0);
  await counters.close();
});
