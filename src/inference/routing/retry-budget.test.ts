import { expect, test, vi } from "vitest";
import { RetryBudget } from "./retry-budget.ts";

test("limits retries to a fifth of the load plus a small reserve", () => {
  const budget = new RetryBudget();
  const beganAt = performance.now();
  let retries = 0;
  for (let request = 0; request < 10_000; request += 1) {
    budget.earn();
    for (let retry = 0; retry < 3; retry += 1) if (budget.spend()) retries += 1;
  }
  const refilled = (performance.now() - beganAt) / 1000 / RetryBudget.secondsForOneOfReserve;
  expect(retries).toBeGreaterThanOrEqual(2000);
  expect(retries).toBeLessThanOrEqual(2000 + RetryBudget.reserve + Math.ceil(refilled));
});

test("allows retries at low load", () => {
  const budget = new RetryBudget();
  budget.earn();
  expect(budget.spend() && budget.spend()).toBe(true);
});

test("saves unspent retries of busy times for a deployment that dies, and forgets them", () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  const budget = new RetryBudget();
  for (let request = 0; request < 1000; request += 1) {
    budget.earn();
    vi.advanceTimersByTime(10);
  }
  vi.advanceTimersByTime(300_000);
  const later = new RetryBudget();
  for (let request = 0; request < 1000; request += 1) later.earn();
  const retries = (each: RetryBudget) => {
    let count = 0;
    while (each.spend()) count += 1;
    return count;
  };
  // Sums of 0.2 are not exact.
  expect(retries(later)).toBeGreaterThanOrEqual(RetryBudget.reserve + 199);
  expect(retries(budget)).toBe(RetryBudget.reserve);
  vi.useRealTimers();
});
