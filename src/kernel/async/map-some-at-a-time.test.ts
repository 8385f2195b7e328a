import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { mapSomeAtATime } from "./map-some-at-a-time.ts";

test("maps in order, no more than so many at the same time", async () => {
  let running = 0;
  let most = 0;
  const results = await mapSomeAtATime([3, 1, 2, 0, 5], 2, async (item) => {
    running += 1;
    most = Math.max(most, running);
    for (let turn = 0; turn < item; turn += 1) await nextTurn();
    running -= 1;
    return item * 10;
  });
  expect(results).toEqual([30, 10, 20, 0, 50]);
  expect(most).toBe(2);
  expect(await mapSomeAtATime([], 2, async () => 1)).toEqual([]);
});

test("begins no further item after a failure", async () => {
  const begun: number[] = [];
  const mapping = mapSomeAtATime([0, 1, 2, 3, 4, 5], 2, async (item) => {
    begun.push(item);
    if (item === 1) throw new Error("item 1");
    await nextTurn();
  });
  await expect(mapping).rejects.toThrow("item 1");
  for (let turn = 0; turn < 10; turn += 1) await nextTurn();
  expect(begun.length).toBeLessThan(5);
});
