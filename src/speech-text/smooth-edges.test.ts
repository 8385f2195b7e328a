import { expect, test } from "vitest";
import { smoothEdges } from "./smooth-edges.ts";

test("begins and ends in silence and leaves the middle as it is", () => {
  const loud = new Float32Array(2400).fill(1);
  const smooth = smoothEdges(loud, 24_000);
  expect([smooth[0], smooth[2399], smooth[1200]]).toEqual([0, 0, 1]);
  const steps = smooth.slice(1).map((sample, index) => Math.abs(sample - (smooth[index] ?? 0)));
  expect(Math.max(...steps)).toBeLessThan(0.02);
  expect(loud[0]).toBe(1);
});

test.each([0, 1, 2, 7])("takes a piece of %i samples", (length) => {
  expect(smoothEdges(new Float32Array(length).fill(1), 24_000)).toHaveLength(length);
});
