import { expect, test } from "vitest";
import { BINS, melFilters } from "./mel-filters.ts";

// Values of librosa's filters of the same kind, which Whisper was trained with.
test.each([
  [80, 0, 1, 0.0248626],
  [80, 79, 190, 0.00223205],
  [80, 40, 48, 0],
  [128, 0, 1, 0.012374],
])("of %i filters, number %i weighs bin %i as %f", (count, row, bin, weight) => {
  expect(melFilters(count)[row * BINS + bin]).toBeCloseTo(weight, 6);
});

test.each([
  [80, 1.99902],
  [128, 3.19099],
])("all weights of %i filters together are %f", (count, sum) => {
  expect(melFilters(count).reduce((a, b) => a + b, 0)).toBeCloseTo(sum, 4);
});
