import { expect, test } from "vitest";
import { PendingLines } from "./pending-lines.ts";

test("takes the lines in order, without those that are answered", () => {
  const pending = new PendingLines(5, (index) => index === 0 || index === 2);
  expect([pending.take(0), pending.take(0), pending.take(0), pending.take(0)]).toEqual([1, 3, 4, undefined]);
  expect(pending.isEmpty).toBe(true);
});

test("repeats a line once its time has come, before new ones", () => {
  const pending = new PendingLines(3, () => false);
  expect(pending.take(0)).toBe(0);
  pending.retry(0, 100);
  expect(pending.take(50)).toBe(1);
  expect(pending.take(100)).toBe(0);
  expect(pending.isEmpty).toBe(false);
});

test("takes no line while it is paused", () => {
  const pending = new PendingLines(1, () => false);
  pending.pause(100);
  pending.pause(50);
  expect(pending.take(99)).toBeUndefined();
  expect(pending.take(100)).toBe(0);
});
