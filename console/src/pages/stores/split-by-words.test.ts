import { expect, test } from "vitest";
import { splitByWords } from "./split-by-words.ts";

test.each([
  ["Otters swim in the river.", "Where do otters live in rivers?", ["Otters", "river"]],
  ["The tide and the TIDES", "tides", ["tide", "TIDES"]],
  ["Größe der Flüsse", "größe", ["Größe"]],
  ["a is it", "a is it", []],
  ["The VAT of the item", "What is the VAT of an item?", ["VAT", "item"]],
])("marks in %j the words of %j", (text, query, expected) => {
  const parts = splitByWords(text, query);
  expect(parts.map((part) => part.text).join("")).toBe(text);
  expect(parts.filter(({ isMatch }) => isMatch).map((part) => part.text)).toEqual(expected);
});
