import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { FairBatches, type Window } from "./fair-batches.ts";

const never = new AbortController().signal;
const noRest = async () => {};

/** Scores a window by its first ID. */
async function score(batch: readonly Window[]): Promise<Float32Array> {
  await turn();
  return Float32Array.from(batch, ({ ids }) => ids[0] ?? 0);
}

function* windows(count: number, length = 128, onRead = () => {}): Generator<Window, void> {
  for (let text = 0; text < count; text += 1) {
    onRead();
    yield { text, index: 0, ids: Array.from({ length }, () => text) };
  }
}

test("scores every window of every request once", async () => {
  const batches = new FairBatches(score, noRest);
  const scored = await Promise.all(
    [1, 300, 7, 0].map(async (count, index) => {
      const found: number[] = [];
      const take = ({ text }: Window, [value]: Float32Array) => {
        expect(value).toBe(text);
        found.push(text);
      };
      await batches.score({ project: `p${index % 2}`, windows: windows(count, 5 + index), signal: never, take });
      return found.sort((a, b) => a - b);
    }),
  );
  expect(scored).toEqual([1, 300, 7, 0].map((count) => Array.from({ length: count }, (_, text) => text)));
});

test("delays a short request by at most one batch of another project's long ones", async () => {
  let batchCount = 0;
  const batches = new FairBatches((batch) => {
    batchCount += 1;
    return score(batch);
  }, noRest);
  let read = 0;
  const long = Array.from({ length: 10 }, () =>
    batches.score({ project: "long", windows: windows(1000, 128, () => (read += 1)), signal: never, take: () => {} }),
  );
  while (batchCount < 20) await turn();
  const before = batchCount;
  await batches.score({ project: "short", windows: windows(1), signal: never, take: () => {} });
  expect(batchCount - before).toBeLessThanOrEqual(3);
  expect(read).toBeLessThan(1000);
  await Promise.all(long);
});

test("ends a request early on abort or failure, and continues with the others", async () => {
  const batches = new FairBatches((batch) => {
    if (batch[0]?.ids.length === 3) throw new Error("The network failed");
    return score(batch);
  }, noRest);
  const abort = new AbortController();
  let taken = 0;
  const aborted = batches.score({
    project: "a",
    windows: windows(1_000_000),
    signal: abort.signal,
    take: () => {
      taken += 1;
      if (taken === 20) abort.abort();
    },
  });
  const failed = batches.score({ project: "b", windows: windows(10, 3), signal: never, take: () => {} });
  await expect(failed).rejects.toThrow("The network failed");
  await aborted;
  expect(taken).toBeLessThan(40);
  await batches.score({ project: "a", windows: windows(1), signal: never, take: () => (taken = 0) });
  expect(taken).toBe(0);
});
