import { expect, test } from "vitest";
import { cutPhonemes } from "./cut-phonemes.ts";

const VOCABULARY = { " ": 16, a: 1, b: 2, c: 3 };

test.each([
  ["abc", 10, [[1, 2, 3]]],
  [
    "ab ca",
    3,
    [
      [1, 2, 16],
      [3, 1],
    ],
  ],
  [
    "aaaabbbb",
    3,
    [
      [1, 1, 1],
      [1, 2, 2],
      [2, 2],
    ],
  ],
  ["a?b", 10, [[1, 2]]],
  ["", 10, []],
])("cuts %j into pieces of at most %i ids", (phonemes, max, pieces) => {
  expect(cutPhonemes(phonemes, VOCABULARY, max)).toEqual(pieces);
});
