import { getHeapStatistics } from "node:v8";
import { expect, test } from "vitest";
import { releaseMemoryWhenIdle } from "./idle-memory.ts";

test("releases memory after a busy period, and only then", async () => {
  const heapMegabytes = () => getHeapStatistics().total_heap_size / 1e6;
  let held: object[] = [];
  // Long enough that polling itself does not count as work.
  using _watched = releaseMemoryWhenIdle(500);
  const until = performance.now() + 700;
  while (held.length < 2_000_000 || performance.now() < until) held.push({ number: held.length });
  const busy = heapMegabytes();
  held = [];
  await expect.poll(heapMegabytes, { interval: 400 }).toBeLessThan(busy - 50);
});
