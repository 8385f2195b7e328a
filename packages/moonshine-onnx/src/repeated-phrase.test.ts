import { expect, test } from "vitest";
import { hasRepeatedPhrase } from "./repeated-phrase.ts";

test.each([
  ["It was printed at Mainz in the year 1462, and was also printed at Mainz by Schofer in the year 1462, and", true],
  ["He went to the old house, then she went to the old house.", true],
  ["Ask not what your country can do for you, ask what you can do for your country.", false],
  ["It was very, very, very good, and that that is, is.", false],
  ["", false],
])("of %j: %s", (text, expected) => {
  expect(hasRepeatedPhrase(text)).toBe(expected);
});
