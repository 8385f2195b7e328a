import { expect, test } from "vitest";
import { adjustSlice, PrefillScheduler, repeatableSlice, splitBudget } from "./prefill-scheduler.ts";

test("fills the batch while no other request decodes, however slow", () => {
  const scheduler = new PrefillScheduler(256);
  expect(scheduler.budget(0)).toBe(256);
  scheduler.record(256, 60_000);
  expect(scheduler.budget(0)).toBe(256);
});

test("shortens slices while others decode, within a minimum and the batch size", () => {
  const scheduler = new PrefillScheduler(256);
  for (let batch = 0; batch < 20; batch++) scheduler.record(100, 200);
  expect(scheduler.budget(3)).toBe(50);
  for (let batch = 0; batch < 20; batch++) scheduler.record(20, 2000);
  expect(scheduler.budget(3)).toBe(8);
  for (let batch = 0; batch < 60; batch++) scheduler.record(100, 1);
  expect(scheduler.budget(3)).toBe(253);
});

test("splits evenly and passes unneeded tokens on", () => {
  expect(splitBudget([1000, 1000], 256)).toEqual([128, 128]);
  expect(splitBudget([1000, 10, 1000], 256)).toEqual([123, 10, 123]);
  expect(splitBudget([5, 6], 256)).toEqual([5, 6]);
  expect(splitBudget([], 256)).toEqual([]);
});

test("leaves no short last slice", () => {
  expect(adjustSlice(1000, 256)).toBe(256);
  expect(adjustSlice(256, 256)).toBe(256);
  expect(adjustSlice(300, 256)).toBe(236);
  expect(adjustSlice(320, 256)).toBe(256);
  expect(adjustSlice(40, 40)).toBe(40);
  expect(adjustSlice(110, 100)).toBe(100);
});

test("keeps each slice of a repeatable prompt long enough", () => {
  expect(repeatableSlice(1000, 256, 256)).toBe(256);
  expect(repeatableSlice(1000, 8, 256)).toBe(64);
  expect(repeatableSlice(100, 8, 256)).toBe(100);
  expect(repeatableSlice(300, 256, 256)).toBe(236);
  for (let left = 64; left <= 600; left++) {
    for (const batchSize of [128, 129, 256]) {
      const slice = repeatableSlice(left, batchSize, batchSize);
      expect(slice).toBeGreaterThanOrEqual(64);
      expect(slice).toBeLessThanOrEqual(batchSize);
      expect(left === slice || left - slice >= 64).toBe(true);
    }
  }
});
