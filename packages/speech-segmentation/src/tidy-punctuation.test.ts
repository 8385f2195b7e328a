import { expect, test } from "vitest";
import { tidyPunctuation } from "./tidy-punctuation.ts";

test.each([
  ["It might be., but it is not.", "It might be, but it is not."],
  ["It might be., But it is not.", "It might be. But it is not."],
  ["It might be.,", "It might be."],
  ["Is it?, he asked,, twice,.", "Is it, he asked, twice."],
  ["At 5 a.m., Acme Inc., etc., left.", "At 5 a.m., Acme Inc., etc., left."],
  ["Well... what?! At 10:30, 1,000.5 people.", "Well... what?! At 10:30, 1,000.5 people."],
])("tidies %j", (text, expected) => {
  expect(tidyPunctuation(text)).toBe(expected);
});
