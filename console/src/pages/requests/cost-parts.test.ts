import { expect, test } from "vitest";
import { costParts, differsFromStated } from "./cost-parts.ts";
import type { RequestEntry } from "./requests-api.ts";

const PRICING = { prompt: "0.000002", cached_prompt: "0.000001", completion: "0.000004" };
const ENTRY = { input_tokens: 10, input_cached_tokens: 4, output_tokens: 5, cost_usd: 0.000036 } as RequestEntry;
const costsOf = (entry: RequestEntry, pricing?: typeof PRICING) =>
  costParts(entry, pricing).map(({ costUsd }) => costUsd);

test("splits a cost into input, cached input and output", () => {
  expect(costParts(ENTRY, PRICING).map(({ tokens }) => tokens)).toEqual([6, 4, 5]);
  const [input = 0, cached = 0, output = 0] = costsOf(ENTRY, PRICING);
  expect([input, cached, output].map((cost) => Math.round(1e6 * (cost ?? 0)))).toEqual([12, 4, 20]);
});

test("has no parts when the price has changed or is unknown", () => {
  expect(costsOf({ ...ENTRY, cost_usd: 1 }, PRICING)).toEqual([null, null, null]);
  expect(costsOf(ENTRY)).toEqual([null, null, null]);
  expect(costsOf({ ...ENTRY, cost_usd: null }, PRICING)).toEqual([null, null, null]);
});

test("shows recorded parts of uncommon units, whatever the price is now", () => {
  const parts = [
    { unit: "prompt", quantity: 6, cost_usd: 0.5 },
    { unit: "cache_write_hour", quantity: 4, cost_usd: 0.25 },
    { unit: "tool_calls.web_search", quantity: 2, cost_usd: 0.02 },
  ];
  expect(costParts({ ...ENTRY, cost_parts: parts }, PRICING)).toEqual([
    { label: "Input tokens", tokens: 6, costUsd: 0.5 },
    { label: "Tokens written to a cache for an hour", tokens: 4, costUsd: 0.25 },
    { label: "Calls of web_search", tokens: 2, costUsd: 0.02 },
  ]);
});

test.each([
  [1.02, 1, true],
  [1.009, 1, false],
  [0.98, 1, true],
  [1, null, false],
  [null, 1, false],
  // The rounding of a billionth of a dollar.
  [2e-9, 1e-9, false],
])("a stated cost of %s beside ours of %s differs: %s", (reported, compared, differs) => {
  expect(differsFromStated(reported, compared)).toBe(differs);
});
