import { expect, test } from "vitest";
import type { RequestEntry } from "./requests-api.ts";
import { sorted } from "./sort-requests.ts";

const ENTRIES = [
  { id: "a", duration_ms: 20, cost_usd: null },
  { id: "b", duration_ms: 30, cost_usd: 0.2 },
  { id: "c", duration_ms: 10, cost_usd: 0.1 },
] as RequestEntry[];

test.each([
  ["", "abc"],
  ["duration", "cab"],
  ["-duration", "bac"],
  ["cost", "cba"],
  ["-cost", "bca"],
  ["other", "abc"],
])("sorts by %j with missing values last", (sort, order) => {
  expect(
    sorted(ENTRIES, sort)
      .map(({ id }) => id)
      .join(""),
  ).toBe(order);
});
