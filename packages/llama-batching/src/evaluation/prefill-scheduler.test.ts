import { expect, test } from "vitest";
import { adjustSlice, assignBudget, GPU_PACE, PrefillScheduler, repeatableSlice } from "./prefill-scheduler.ts";

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

test("bills a prompt neither for the tokens of other requests nor at a guess", () => {
  const scheduler = new PrefillScheduler(2048, GPU_PACE);
  expect(scheduler.budget(64)).toBe(1984);
  for (let batch = 0; batch < 20; batch++) scheduler.record(0, 40);
  for (let batch = 0; batch < 60; batch++) scheduler.record(100, 90);
  // 0.5 ms a token beside 40 ms for the others, within 250 ms.
  expect(scheduler.budget(64)).toBeGreaterThan(400);
  expect(scheduler.budget(64)).toBeLessThan(440);
});

test("keeps a share for prompts however long decoding takes", () => {
  const scheduler = new PrefillScheduler(256);
  for (let batch = 0; batch < 20; batch++) scheduler.record(0, 5000);
  expect(scheduler.budget(3)).toBeGreaterThan(40);
});

test("assigns whole prompts in order of arrival, and half to the shortest ones", () => {
  expect(assignBudget([100, 100, 100, 100], 256)).toEqual([100, 100, 56, 0]);
  expect(assignBudget([1000, 1000], 256)).toEqual([256, 0]);
  expect(assignBudget([1000, 10, 1000], 256)).toEqual([246, 10, 0]);
  expect(assignBudget([30_000, 100, 20], 256)).toEqual([136, 100, 20]);
  expect(assignBudget([5, 6], 256)).toEqual([5, 6]);
  expect(assignBudget([], 256)).toEqual([]);
});

test("ends equal prompts earlier on average than even shares, and none later", () => {
  const ends = (assign: typeof assignBudget) => {
    const left = Array.from({ length: 64 }, () => 115);
    const endedAt = left.map(() => 0);
    for (let step = 1; left.some((need) => need > 0); step++) {
      for (const [index, share] of assign(left, 400).entries()) {
        left[index] = (left[index] as number) - share;
        if (share > 0 && left[index] === 0) endedAt[index] = step;
      }
    }
    return endedAt;
  };
  const even = ends((needs, budget) => {
    const open = needs.filter((need) => need > 0).length;
    return needs.map((need) => Math.min(need, Math.floor(budget / open)));
  });
  const whole = ends(assignBudget);
  expect(Math.max(...whole)).toBe(Math.ceil((64 * 115) / 400));
  const mean = (steps: readonly number[]) => steps.reduce((sum, step) => sum + step) / steps.length;
  expect(mean(whole)).toBeLessThan(0.6 * mean(even));
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
