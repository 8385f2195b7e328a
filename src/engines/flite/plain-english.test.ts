import { expect, test } from "vitest";
import { toPlainEnglish } from "./plain-english.ts";

test.each([
  ["It’s “fine” — really…", `It's "fine", really...`],
  ["café naïve Zürich Łódź Ærø", "cafe naive Zurich lodz ero"],
  ["€7 or £12.50, not $3", "7 euros or 12.50 pounds, not $3"],
  ["The word 日本語 is Japanese.", "The word   is Japanese."],
  ["ﬁve ½ ²", "five 1 2 2"],
  ["日本語", ""],
])("of %j says %j", (text, said) => {
  expect(toPlainEnglish(text)).toBe(said);
});
