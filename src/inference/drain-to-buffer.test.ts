import { expect, test } from "vitest";
import { drainToBuffer } from "./drain-to-buffer.ts";

async function* numbers(count: number, onEnd: () => void, failure?: Error) {
  try {
    for (let index = 0; index < count; index += 1) yield index;
    if (failure !== undefined) throw failure;
  } finally {
    onEnd();
  }
}

test("drains the source without a reader", async () => {
  let hasEnded = false;
  const items = drainToBuffer(numbers(100, () => (hasEnded = true)));
  await new Promise((resolve) => setImmediate(resolve));
  expect(hasEnded).toBe(true);
  expect((await Array.fromAsync(items)).length).toBe(100);
});

test("yields the items before a failure, then throws it", async () => {
  const failure = new Error("broken");
  const items = drainToBuffer(numbers(3, () => {}, failure));
  const seen: number[] = [];
  const read = async () => {
    for await (const item of items) seen.push(item);
  };
  await expect(read()).rejects.toBe(failure);
  expect(seen).toEqual([0, 1, 2]);
});

test("gives others a turn while a source has everything at hand", async () => {
  async function* source() {
    for (let item = 0; item < 10_000; item += 1) yield item;
  }
  let turns = 0;
  const count = () => {
    turns += 1;
    counting = setImmediate(count);
  };
  let counting = setImmediate(count);
  const items = await Array.fromAsync(drainToBuffer(source()));
  clearImmediate(counting);
  expect(items).toHaveLength(10_000);
  expect(turns).toBeGreaterThanOrEqual(10);
});
