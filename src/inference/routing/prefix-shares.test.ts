import { expect, test } from "vitest";
import { hashPrefix } from "./prefix-affinity.ts";
import { PrefixShares } from "./prefix-shares.ts";

const DEPLOYMENTS = 64;

/** Counts requests of `prefix` and of others, one to `others`, and returns the sizes that `prefix` had. */
function countMixed(shares: PrefixShares, prefix: string, others: number, requests: number): number[] {
  const sizes: number[] = [];
  for (let request = 0; request < requests; request += 1) {
    if (request % (others + 1) === 0) sizes.push(shares.count(hashPrefix(prefix), DEPLOYMENTS));
    else shares.count(hashPrefix(`other ${request}`), DEPLOYMENTS);
  }
  return sizes;
}

test("keeps a rare prefix on one deployment", () => {
  expect(new Set(countMixed(new PrefixShares(), "rare", 999, 20_000))).toEqual(new Set([1]));
});

test("spreads a prefix of all requests over all deployments", () => {
  expect(countMixed(new PrefixShares(), "only", 0, 5000).at(-1)).toBeGreaterThanOrEqual(DEPLOYMENTS);
});

test("gives a prefix four times the deployments that its share fills, without changing its mind", () => {
  const sizes = countMixed(new PrefixShares(), "tenth", 9, 50_000);
  // A tenth of 64, times four, is 26.
  expect(new Set(sizes.slice(1000))).toEqual(new Set([32]));
});

test("shrinks a group whose prefix becomes rare", () => {
  const shares = new PrefixShares();
  expect(countMixed(shares, "once", 0, 5000).at(-1)).toBeGreaterThanOrEqual(DEPLOYMENTS);
  expect(countMixed(shares, "once", 999, 100_000).at(-1)).toBeLessThanOrEqual(2);
});
