import { expect, test } from "vitest";
import { type Window, windowBatches } from "./window-batches.ts";

const windowsOf = (...lengths: number[]): Window[] =>
  lengths.map((length, input) => ({ input, ids: Array.from({ length }, () => 1) }));
const lengthsOf = (windows: readonly Window[]) =>
  [...windowBatches(windows)].map((batch) => batch.map(({ ids }) => ids.length));

test("puts windows of similar length into a batch, shortest first", () => {
  expect(lengthsOf(windowsOf(256, 3, 256, 4))).toEqual([
    [3, 4],
    [256, 256],
  ]);
});

test("fills batches up to 512 tokens, padding included", () => {
  const batches = lengthsOf(windowsOf(...Array.from({ length: 40 }, (_, index) => 100 + index)));
  expect(batches.flat()).toHaveLength(40);
  for (const [index, batch] of batches.entries()) {
    expect(batch.length * Math.max(...batch)).toBeLessThanOrEqual(512);
    const next = batches[index + 1]?.[0] ?? Number.POSITIVE_INFINITY;
    expect((batch.length + 1) * next).toBeGreaterThan(512);
  }
});

test("gives a window above 512 tokens a separate batch", () => {
  expect(lengthsOf(windowsOf(5000, 10, 6000))).toEqual([[10], [5000], [6000]]);
});

test("yields each window once, with its input", () => {
  const windows = windowsOf(7, 500, 7, 90, 500);
  const inputs = [...windowBatches(windows)].flat().map(({ input }) => input);
  expect(inputs.toSorted()).toEqual([0, 1, 2, 3, 4]);
  expect([...windowBatches([])]).toEqual([]);
});
