import { describe, expect, test } from "vitest";
import type { Charge, Price } from "../../contracts/price.ts";
import { NO_USAGE, type Usage } from "../../kernel/usage.ts";
import { costInNanoDollars, costParts, maxCostInNanoDollars } from "./cost.ts";

function charge(price: Price, ...factors: string[]): Charge {
  return { price, factors };
}

test("is null without a price, and 0 for a price of 0", () => {
  expect(costInNanoDollars(charge({}), "chat", { ...NO_USAGE, promptTokens: 5 })).toBeNull();
  expect(maxCostInNanoDollars(charge({}), "chat", { ...NO_USAGE, promptTokens: 5 })).toBeNull();
  expect(costParts(charge({}), "chat", { ...NO_USAGE, promptTokens: 5 })).toEqual([]);
  expect(costInNanoDollars(charge({ prompt: "0" }), "chat", { ...NO_USAGE, promptTokens: 5 })).toBe(0);
});

test("charges cached tokens at their own price, or at the prompt price without one", () => {
  const usage = { ...NO_USAGE, promptTokens: 1_000, cachedTokens: 400, completionTokens: 10 };
  const price = { prompt: "0.000001", cached_prompt: "0.0000001", completion: "0.00001" };
  expect(costInNanoDollars(charge(price), "chat", usage)).toBe(600_000 + 40_000 + 100_000);
  expect(costInNanoDollars(charge({ prompt: "0.000001" }), "chat", usage)).toBe(1_000_000);
});

test("rounds half up, once, at the end", () => {
  const third = charge({ prompt: "0.0000000003", completion: "0.0000000002" });
  expect(costInNanoDollars(third, "chat", { ...NO_USAGE, promptTokens: 1, completionTokens: 1 })).toBe(1);
  expect(costInNanoDollars(third, "chat", { ...NO_USAGE, promptTokens: 1 })).toBe(0);
  const smallest = charge({ prompt: "0.000000000000001" });
  expect(costInNanoDollars(smallest, "chat", { ...NO_USAGE, promptTokens: 1_500_000 })).toBe(2);
  // 0.5 nano-dollars, of which a tenth is taken off before the rounding.
  const half = { prompt: "0.0000000005" };
  expect(costInNanoDollars(charge(half), "chat", { ...NO_USAGE, promptTokens: 1 })).toBe(1);
  expect(costInNanoDollars(charge(half, "0.9"), "chat", { ...NO_USAGE, promptTokens: 1 })).toBe(0);
});

test("charges speech by characters and transcription by seconds", () => {
  expect(costInNanoDollars(charge({ character: "0.000015" }), "speech", { ...NO_USAGE, characters: 11 })).toBe(165_000);
  const usage = { ...NO_USAGE, audioSeconds: 1.5 };
  expect(costInNanoDollars(charge({ second: "0.0001" }), "transcription", usage)).toBe(150_000);
});

test("stays exact for the largest amounts", () => {
  const usage = { ...NO_USAGE, promptTokens: 2_000_000_000 };
  expect(costInNanoDollars(charge({ prompt: "0.000123456789012" }), "chat", usage)).toBe(246_913_578_024_000);
});

describe("units", () => {
  const usage: Usage = {
    ...NO_USAGE,
    promptTokens: 10_000,
    cachedTokens: 4_000,
    completionTokens: 1_000,
    reasoningTokens: 600,
    details: {
      cacheWriteTokens: 3_000,
      cacheWriteHourTokens: 1_000,
      inputAudioTokens: 700,
      cachedAudioTokens: 200,
      inputImageTokens: 300,
      outputAudioTokens: 100,
      images: 2,
      toolCalls: { web_search: 3, code_interpreter: 1 },
    },
  };

  test("charges each token once, under its most special unit", () => {
    const price = {
      ...{ prompt: "1", cached_prompt: "0.1", cache_write: "1.25", cache_write_hour: "2", completion: "5" },
      ...{ reasoning: "6", input_audio: "10", cached_audio: "3", output_audio: "20", input_image: "7", image: "40" },
      ...{ request: "9", tool_calls: { web_search: "0.01" } },
    };
    const quantities = Object.fromEntries(
      costParts(charge(price), "chat", usage).map((part) => [part.unit, part.quantity]),
    );
    expect(quantities).toEqual({
      // 10,000 less 4,000 cached, 3,000 written, 500 of audio and 300 of images.
      ...{ prompt: 2_200, cached_prompt: 3_800, cached_audio: 200, cache_write: 2_000, cache_write_hour: 1_000 },
      ...{ input_audio: 500, input_image: 300, completion: 300, reasoning: 600, output_audio: 100 },
      ...{ image: 2, request: 1, "tool_calls.web_search": 3 },
    });
    // 2,200 + 380 + 600 + 2,500 + 2,000 + 5,000 + 2,100 + 1,500 + 3,600 + 2,000 + 80 + 9 + 0.03 dollars.
    expect(costInNanoDollars(charge(price), "chat", usage)).toBe(21_969_030_000_000);
  });

  test("charges tokens of a unit without a price as the more general one", () => {
    const price = { prompt: "1", completion: "5" };
    expect(costInNanoDollars(charge(price), "chat", usage)).toBe((10_000 + 5_000) * 1e9);
    const withCache = { ...price, cached_prompt: "0.5", cache_write: "2" };
    expect(costInNanoDollars(charge(withCache), "chat", usage)).toBe((3_000 + 2_000 + 6_000 + 5_000) * 1e9);
  });

  test("never charges more tokens than there are", () => {
    const damaged = { ...NO_USAGE, promptTokens: 10, cachedTokens: 8, details: { cacheWriteTokens: 8 } };
    const price = { prompt: "1", cache_write: "1" };
    expect(costInNanoDollars(charge(price), "chat", damaged)).toBe(10e9);
  });

  test("takes factors of the deployment and the project, and the exchange rate", () => {
    const price = { prompt: "1", currency: "EUR", exchange_rate: "1.0842" };
    const one = { ...NO_USAGE, promptTokens: 1 };
    expect(costInNanoDollars(charge(price), "chat", one)).toBe(1_084_200_000);
    // 1.0842 × 0.85 × 1.1 = 1.013727.
    expect(costInNanoDollars(charge(price, "0.85", "1.1"), "chat", one)).toBe(1_013_727_000);
  });
});

describe("tiers", () => {
  const price: Price = {
    ...{ prompt: "1", cached_prompt: "0.1", completion: "5" },
    tiers: [
      { above_prompt_tokens: 100, prompt: "2", completion: "8" },
      { service_tier: "batch", prompt: "0.5", completion: "2.5" },
      { service_tier: "batch", above_prompt_tokens: 100, prompt: "1", completion: "4" },
      { service_tier: "priority", prompt: "3" },
    ],
  };
  const usage = (promptTokens: number, serviceTier?: string): Usage => ({
    ...{
      ...NO_USAGE,
      promptTokens,
      completionTokens: 1,
      details: serviceTier === undefined ? undefined : { serviceTier },
    },
  });

  test.each([
    ["up to the length", usage(100), 100 + 5],
    ["above the length, on all tokens", usage(101), 202 + 8],
    ["in a service tier", usage(100, "batch"), 50 + 2.5],
    ["in a service tier above the length", usage(101, "batch"), 101 + 4],
    ["in a tier that changes some units", usage(100, "priority"), 300 + 5],
    ["in a tier without a price, as the standard one", usage(100, "scale"), 100 + 5],
  ])("charges a request %s", (_case, used, dollars) => {
    expect(costInNanoDollars(charge(price), "chat", used)).toBe(dollars * 1e9);
  });

  test("the maximum is that of the most expensive tier that the prompt can reach", () => {
    expect(maxCostInNanoDollars(charge(price), "chat", usage(100))).toBe((300 + 5) * 1e9);
    expect(maxCostInNanoDollars(charge(price), "chat", usage(101))).toBe((303 + 8) * 1e9);
  });

  test("the maximum covers every division of the tokens, however the upstream processes them", () => {
    const rich: Price = { ...price, cache_write: "1.25", cache_write_hour: "4", reasoning: "6", output_audio: "9" };
    const bound = { ...NO_USAGE, promptTokens: 200, completionTokens: 50 };
    const max = maxCostInNanoDollars(charge(rich, "1.5"), "chat", bound) as number;
    for (const serviceTier of [undefined, "batch", "priority"]) {
      for (const cachedTokens of [0, 80]) {
        for (const cacheWriteTokens of [0, 120]) {
          const details = {
            serviceTier,
            cacheWriteTokens,
            cacheWriteHourTokens: cacheWriteTokens,
            outputAudioTokens: 20,
          };
          const used = { ...bound, cachedTokens, reasoningTokens: 30, details };
          expect(costInNanoDollars(charge(rich, "1.5"), "chat", used)).toBeLessThanOrEqual(max);
        }
      }
    }
  });
});
