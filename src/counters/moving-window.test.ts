import { expect, test } from "vitest";
import { MovingWindow } from "./moving-window.ts";

test("counts usage for one window and at most a thousandth longer", () => {
  const window = new MovingWindow(60);
  window.correct(5, 1_000, 1_000);
  expect(window.used(61_000)).toBe(5);
  expect(window.used(61_061)).toBe(0);
});

test("reports when capacity returns", () => {
  const window = new MovingWindow(60);
  window.correct(5, 0, 0);
  window.correct(5, 30_000, 30_000);
  expect(window.secondsUntil(10, 40_000)).toBe(0);
  const someSeconds = window.secondsUntil(5, 40_000);
  expect(window.used(40_000 + someSeconds * 1000 - 1)).toBe(10);
  expect(window.used(40_000 + someSeconds * 1000)).toBe(5);
  expect(window.secondsUntil(4, 60_500)).toBeCloseTo(29.56);
});

test("corrects usage at the time of its claim", () => {
  const window = new MovingWindow(60);
  window.correct(5, 0, 0);
  window.correct(5, 30_000, 30_000);
  window.correct(-5, 0, 40_000);
  window.correct(2, 15_000, 40_000);
  expect(window.used(40_000)).toBe(7);
  expect(window.used(75_000)).toBe(7);
  expect(window.used(75_061)).toBe(5);
});

test("never exceeds the limit in any window, in bounded memory for a million claims", () => {
  const window = new MovingWindow(1);
  const limit = 5_000;
  const grants: number[] = [];
  for (let step = 0; step < 1_000_000; step++) {
    const now = step / 100;
    if (window.used(now) >= limit) continue;
    window.correct(1, now, now);
    grants.push(now);
  }
  const tightest = grants.slice(limit).every((at, index) => at - (grants[index] ?? 0) > 1_000);
  expect(tightest).toBe(true);
  expect(grants.length).toBeGreaterThan(9 * limit);
});
