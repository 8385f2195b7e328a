import { expect, test } from "vitest";
import { cutSlice, PrefillPace, shareTokens } from "./prefill-pace.ts";

test("fills the batch while nobody else waits for a token, however slow that is", () => {
  const pace = new PrefillPace(256);
  expect(pace.budget(0)).toBe(256);
  pace.record(256, 60_000);
  expect(pace.budget(0)).toBe(256);
});

test("takes less while others decode, never less than a little, never more than the batch holds", () => {
  const pace = new PrefillPace(256);
  for (let batch = 0; batch < 20; batch++) pace.record(100, 200);
  expect(pace.budget(3)).toBe(50);
  for (let batch = 0; batch < 20; batch++) pace.record(20, 2000);
  expect(pace.budget(3)).toBe(8);
  for (let batch = 0; batch < 60; batch++) pace.record(100, 1);
  expect(pace.budget(3)).toBe(253);
});

test("shares evenly, and what one does not need goes to the others", () => {
  expect(shareTokens([1000, 1000], 256)).toEqual([128, 128]);
  expect(shareTokens([1000, 10, 1000], 256)).toEqual([123, 10, 123]);
  expect(shareTokens([5, 6], 256)).toEqual([5, 6]);
  expect(shareTokens([], 256)).toEqual([]);
});

test("leaves no short slice at the end of a long text", () => {
  expect(cutSlice(1000, 256)).toBe(256);
  expect(cutSlice(256, 256)).toBe(256);
  expect(cutSlice(300, 256)).toBe(236);
  expect(cutSlice(320, 256)).toBe(256);
  expect(cutSlice(40, 40)).toBe(40);
  expect(cutSlice(110, 100)).toBe(100);
});
