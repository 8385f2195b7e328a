import { expect, test } from "vitest";
import { toAscii } from "./to-ascii.ts";

test.each([
  ["It’s “fine” — really…", `It's "fine", really...`],
  ["café naïve Zürich Łódź Ærø", "cafe naive Zurich lodz ero"],
  ["€7 or £12.50, not $3", "7 euros or 12.50 pounds, not $3"],
  ["The word 日本語 is Japanese.", "The word   is Japanese."],
  ["ﬁve ½ ²", "five 1 2 2"],
  ["日本語", ""],
])("converts %j to %j", (text, ascii) => {
  expect(toAscii(text)).toBe(ascii);
});
