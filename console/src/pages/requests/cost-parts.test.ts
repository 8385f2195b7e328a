import { expect, test } from "vitest";
import { costParts } from "./cost-parts.ts";
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
