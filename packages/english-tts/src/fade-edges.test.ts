import { expect, test } from "vitest";
import { fadeEdges } from "./fade-edges.ts";

test("fades both ends to silence and leaves the middle unchanged", () => {
  const loud = new Float32Array(2400).fill(1);
  const faded = fadeEdges(loud, 24_000);
  expect([faded[0], faded[2399], faded[1200]]).toEqual([0, 0, 1]);
  const steps = faded.slice(1).map((sample, index) => Math.abs(sample - (faded[index] ?? 0)));
  expect(Math.max(...steps)).toBeLessThan(0.02);
  expect(loud[0]).toBe(1);
});

test.each([0, 1, 2, 7])("accepts a piece of %i samples", (length) => {
  expect(fadeEdges(new Float32Array(length).fill(1), 24_000)).toHaveLength(length);
});
