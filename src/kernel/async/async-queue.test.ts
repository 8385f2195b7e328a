import { expect, test } from "vitest";
import { AsyncQueue } from "./async-queue.ts";

test("yields items in order, including those pushed before the reader", async () => {
  const queue = new AsyncQueue<number>();
  queue.push(1);
  const read = Array.fromAsync(queue.read());
  queue.push(2);
  setTimeout(() => {
    queue.push(3);
    queue.end();
  }, 5);
  expect(await read).toEqual([1, 2, 3]);
});

test("throws the failure after the items before it, and ignores a second end", async () => {
  const queue = new AsyncQueue<number>();
  queue.push(1);
  queue.end(new Error("broken"));
  queue.end();
  expect(queue.hasEnded).toBe(true);
  const seen: number[] = [];
  const reading = (async () => {
    for await (const item of queue.read()) seen.push(item);
  })();
  await expect(reading).rejects.toThrow("broken");
  expect(seen).toEqual([1]);
});
