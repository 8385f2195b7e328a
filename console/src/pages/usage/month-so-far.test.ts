import { expect, test } from "vitest";
import { monthSoFar } from "./month-so-far.ts";

const at = (text: string) => Date.parse(text) / 1000;

test("sums the days of a month so far and projects its end", () => {
  const days = [
    { time: at("2026-11-01"), cost: 2 },
    { time: at("2026-11-03"), cost: 4 },
  ];
  const { spent, projected, points } = monthSoFar(days, new Date("2026-11-04T00:00:00Z"));
  expect(spent).toBe(6);
  expect(projected).toBeCloseTo(60);
  expect(points).toHaveLength(30);
  expect(points.slice(0, 5).map((point) => point.spent)).toEqual([2, 2, 6, 6, null]);
});

test("has the days of February in a leap year, and no projection of its first moment", () => {
  const { points, projected } = monthSoFar([], new Date("2028-02-01T00:00:00Z"));
  expect(points).toHaveLength(29);
  expect(projected).toBe(0);
});
