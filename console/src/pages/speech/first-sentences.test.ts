import { expect, test } from "vitest";
import { firstSentences } from "./first-sentences.ts";

test.each([
  [" One. Two. ", 20, "One. Two."],
  ["One. Two? Three four five", 12, "One. Two?"],
  ["One two three four", 9, "One two"],
  ["Onetwothreefour", 5, "O"],
])("takes the beginning of %j", (text, max, beginning) => {
  expect(firstSentences(text, max)).toBe(beginning);
});
