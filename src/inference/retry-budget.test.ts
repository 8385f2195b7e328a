import { expect, test } from "vitest";
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
