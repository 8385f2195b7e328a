import { expect, test } from "vitest";
import { isStorable, MAX_STORED_CHARACTERS, MAX_STORED_ITEMS } from "./storable.ts";

test("bounds the characters of all strings and the number of items", () => {
  expect(isStorable("a".repeat(MAX_STORED_CHARACTERS))).toBe(true);
  expect(isStorable("a".repeat(MAX_STORED_CHARACTERS + 1))).toBe(false);
  const nested = (length: number) => [{ role: "user", content: [{ type: "input_text", text: "a".repeat(length) }] }];
  expect(isStorable(nested(MAX_STORED_CHARACTERS - 100))).toBe(true);
  expect(isStorable(nested(MAX_STORED_CHARACTERS))).toBe(false);
  expect(isStorable(Array.from({ length: MAX_STORED_ITEMS }, () => ({ role: "user", content: "a" })))).toBe(true);
  expect(isStorable(Array.from({ length: MAX_STORED_ITEMS + 1 }, () => ({ role: "user", content: "a" })))).toBe(false);
});

test("counts numbers, so that long lists of them are bounded too", () => {
  expect(isStorable([{ data: new Array(MAX_STORED_CHARACTERS + 1).fill(0) }])).toBe(false);
});

test("counts the envelope with the input, and the names of fields", () => {
  const half = "a".repeat(MAX_STORED_CHARACTERS / 2);
  expect(isStorable(half, { instructions: half.slice(20) })).toBe(true);
  expect(isStorable(half, { instructions: half })).toBe(false);
  expect(isStorable("Hi", { tools: [{ parameters: { [`${half}${half}`]: {} } }] })).toBe(false);
});
