import { expect, test } from "vitest";
import { limitToContextWindow } from "./limit-to-context-window.ts";

const upperBound = { promptTokens: 1e9, completionTokens: 1e9, audioBytes: 5, characters: 6 };

test("limits prompt and answer to the longest context window", () => {
  const limited = limitToContextWindow(upperBound, [4096, 8192]);
  expect(limited).toEqual({ promptTokens: 8192, completionTokens: 8192, audioBytes: 5, characters: 6 });
});

test("limits each choice separately", () => {
  expect(limitToContextWindow(upperBound, [4096], { choices: 3 }).completionTokens).toBe(3 * 4096);
});

test("limits each prompt separately", () => {
  expect(limitToContextWindow(upperBound, [4096], { prompts: 256, choices: 256 })).toMatchObject({
    ...{ promptTokens: 256 * 4096, completionTokens: 256 * 4096 },
  });
  expect(limitToContextWindow(upperBound, [undefined], { prompts: 256 }).promptTokens).toBe(1e9);
});

test("limits only the answer when a window is unknown", () => {
  const limited = limitToContextWindow(upperBound, [4096, undefined]);
  expect(limited).toMatchObject({ promptTokens: 1e9, completionTokens: 131_072 });
  expect(limitToContextWindow(upperBound, [1_000_000, undefined]).completionTokens).toBe(1_000_000);
});

test("leaves smaller requests and those without max_tokens unchanged", () => {
  const small = { ...upperBound, promptTokens: 10, completionTokens: 20 };
  expect(limitToContextWindow(small, [4096, undefined])).toEqual(small);
  expect(limitToContextWindow({ ...small, completionTokens: undefined }, [16]).completionTokens).toBeUndefined();
});
