import { expect, test } from "vitest";
import { perToken } from "./per-token.ts";

test.each([
  ["3", "0.000003"],
  ["0.15", "0.00000015"],
  ["15,5", "0.0000155"],
  ["1000000", undefined],
  ["250000", "0.25"],
  ["0", "0"],
  ["", undefined],
  ["-1", undefined],
  ["1e3", undefined],
])("converts %j dollars a million to %j", (given, expected) => {
  expect(perToken(given)).toBe(expected);
});
