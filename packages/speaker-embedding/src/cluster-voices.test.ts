import { expect, test } from "vitest";
import { clusterVoices, meanVoice } from "./cluster-voices.ts";

/** A vector of length 1 in the plane. */
const at = (degrees: number) =>
  Float32Array.of(Math.cos((degrees * Math.PI) / 180), Math.sin((degrees * Math.PI) / 180));

test("joins voices that are similar on average and numbers clusters in order of appearance", () => {
  expect(clusterVoices([at(90), at(0), at(80), at(10), at(100)], 0.5)).toEqual([0, 1, 0, 1, 0]);
});

test("separates voices below the similarity, and joins all above it", () => {
  const voices = [at(0), at(50), at(100)];
  expect(clusterVoices(voices, 0.9)).toEqual([0, 1, 2]);
  expect(clusterVoices(voices, 0.1)).toEqual([0, 0, 0]);
  // The third is at 50 degrees from the second, but at 75 on average from the pair.
  expect(clusterVoices(voices, 0.5)).toEqual([0, 0, 1]);
});

test("returns no labels for no voices", () => {
  expect(clusterVoices([], 0.5)).toEqual([]);
});

test("weights the mean of voices", () => {
  const mean = meanVoice([at(0), at(90)], [3, 1]);
  expect(Math.atan2(mean[1] ?? 0, mean[0] ?? 0)).toBeCloseTo(Math.atan2(1, 3), 5);
  expect(Math.hypot(...mean)).toBeCloseTo(1, 5);
});
