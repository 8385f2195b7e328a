import { expect, test } from "vitest";
import { monthSoFar } from "./month-so-far.ts";

const DAY = 86_400;
const at = (text: string) => Date.parse(text) / 1000;

test("sums the days of a month so far and projects its end at their pace", () => {
  const days = [
    { time: at("2026-11-01"), cost: 2 },
    { time: at("2026-11-03"), cost: 4 },
  ];
  const { spent, projected, basis, points } = monthSoFar(days, new Date("2026-11-04T00:00:00Z"));
  expect([spent, basis]).toEqual([6, "pace"]);
  expect(projected).toBeCloseTo(60);
  expect(points).toHaveLength(30);
  expect(points.slice(0, 5).map((point) => point.spent)).toEqual([2, 2, 6, 6, null]);
  expect(points.at(-1)?.forecast).toBeCloseTo(60);
});

test("expects each weekday to cost what it did in the last four weeks", () => {
  // Ten dollars on weekdays, one at weekends, since the middle of October.
  const costOf = (time: number) => ([0, 6].includes(new Date(time * 1000).getUTCDay()) ? 1 : 10);
  const days = Array.from({ length: 28 }, (_each, index) => at("2026-10-14") + index * DAY).map((time) => ({
    time,
    cost: costOf(time),
  }));
  const now = new Date("2026-11-11T12:00:00Z");
  const today = { time: at("2026-11-11"), cost: 4 };
  const { spent, projected, basis, points } = monthSoFar([...days, today], now);
  const month = Array.from({ length: 30 }, (_each, index) => costOf(at("2026-11-01") + index * DAY));
  const total = month.reduce((sum, cost) => sum + cost, 0);
  expect(basis).toBe("weekdays");
  expect(spent).toBe(month.slice(0, 10).reduce((sum, cost) => sum + cost, 0) + 4);
  expect(projected).toBeCloseTo(total);
  expect(points[10]).toEqual({ day: 11, spent, forecast: spent + 6 });
  expect(points[9]?.forecast).toBeNull();
});

test("does not expect less than what today has cost already", () => {
  const days = Array.from({ length: 20 }, (_each, index) => ({ time: at("2026-11-01") + index * DAY, cost: 1 }));
  const { projected } = monthSoFar([...days, { time: at("2026-11-21"), cost: 50 }], new Date("2026-11-21T06:00:00Z"));
  expect(projected).toBeCloseTo(20 + 50 + 9);
});

test("has the days of February in a leap year, and no projection of its first moment", () => {
  const { points, projected } = monthSoFar([], new Date("2028-02-01T00:00:00Z"));
  expect(points).toHaveLength(29);
  expect(projected).toBe(0);
});
