import { expect, test } from "vitest";
import { FFT_BINS, melFilterbank } from "./mel-filterbank.ts";

// Reference values from librosa, whose filters Whisper was trained with.
test.each([
  [80, 0, 1, 0.0248626],
  [80, 79, 190, 0.00223205],
  [80, 40, 48, 0],
  [128, 0, 1, 0.012374],
])("%i bands: band %i weighs bin %i by %f", (count, row, bin, weight) => {
  expect(melFilterbank(count)[row * FFT_BINS + bin]).toBeCloseTo(weight, 6);
});

test.each([
  [80, 1.99902],
  [128, 3.19099],
])("%i bands: the weights sum to %f", (count, sum) => {
  expect(melFilterbank(count).reduce((a, b) => a + b, 0)).toBeCloseTo(sum, 4);
});
