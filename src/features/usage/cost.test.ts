import { expect, test } from "vitest";
import { NO_USAGE } from "../../kernel/usage.ts";
import { costInNanoDollars } from "./cost.ts";

test("is null without a price, and 0 for a price of 0", () => {
  expect(costInNanoDollars({}, "chat", { ...NO_USAGE, promptTokens: 5 })).toBeNull();
  expect(costInNanoDollars({ prompt: "0" }, "chat", { ...NO_USAGE, promptTokens: 5 })).toBe(0);
});

test("charges cached tokens at their own price, or at the prompt price without one", () => {
  const usage = { ...NO_USAGE, promptTokens: 1_000, cachedTokens: 400, completionTokens: 10 };
  expect(
    costInNanoDollars({ prompt: "0.000001", cached_prompt: "0.0000001", completion: "0.00001" }, "chat", usage),
  ).toBe(600_000 + 40_000 + 100_000);
  expect(costInNanoDollars({ prompt: "0.000001" }, "chat", usage)).toBe(1_000_000);
});

test("rounds half up, once, at the end", () => {
  const third = { prompt: "0.0000000003", completion: "0.0000000002" };
  expect(costInNanoDollars(third, "chat", { ...NO_USAGE, promptTokens: 1, completionTokens: 1 })).toBe(1);
  expect(costInNanoDollars(third, "chat", { ...NO_USAGE, promptTokens: 1 })).toBe(0);
  expect(costInNanoDollars({ prompt: "0.000000000000001" }, "chat", { ...NO_USAGE, promptTokens: 1_500_000 })).toBe(2);
});

test("charges speech by characters and transcription by seconds", () => {
  expect(costInNanoDollars({ character: "0.000015" }, "speech", { ...NO_USAGE, characters: 11 })).toBe(165_000);
  const usage = { ...NO_USAGE, audioSeconds: 1.5 };
  expect(costInNanoDollars({ second: "0.0001" }, "transcription", usage)).toBe(150_000);
});

test("stays exact for the largest amounts", () => {
  const usage = { ...NO_USAGE, promptTokens: 2_000_000_000 };
  expect(costInNanoDollars({ prompt: "0.000123456789012" }, "chat", usage)).toBe(246_913_578_024_000);
});
