import { expect, test } from "vitest";
import { parseUsage } from "./usage.ts";

const usage = { prompt_tokens: 10, completion_tokens: 5 };

test("reads an upstream's usage", () => {
  const reported = { ...usage, prompt_tokens_details: { cached_tokens: 4 } };
  expect(parseUsage(reported)).toEqual({
    promptTokens: 10,
    completionTokens: 5,
    cachedTokens: 4,
    reasoningTokens: 0,
    estimated: false,
  });
});

test("limits cached tokens to the prompt's tokens, so costs stay non-negative", () => {
  expect(parseUsage({ ...usage, prompt_tokens_details: { cached_tokens: 400 } })?.cachedTokens).toBe(10);
});

test.each([3_000_000_000, -1, 1.5, "10", null])("treats %j tokens as missing", (tokens) => {
  expect(parseUsage({ ...usage, prompt_tokens: tokens })).toBeUndefined();
  expect(parseUsage({ ...usage, completion_tokens: tokens })).toBeUndefined();
});
