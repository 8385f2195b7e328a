import { expect, test } from "vitest";
import { filterHallucinations } from "./hallucination-filter.ts";

test.each([
  ["what was said", 2, "what was said"],
  ["  spaced   out ", 2, "spaced out"],
  ["No, no, no! Not that.", 2, "No, no, no! Not that."],
  ["very very very very very good", 2, "very very very very very good"],
  ["ha ha ha ha ha ha ha ha", 3, "ha"],
  ["and so on and so on and so on and so on and so on it went", 10, "and so on it went"],
  ["", 1, ""],
  ["...", 1, ""],
  ["♪ ♪", 1, ""],
  ["Thank you for watching this video and see you in the next one.", 0.3, ""],
  ["Yes.", 0.2, "Yes."],
])("filters %j in %d s to %j", (text, seconds, expected) => {
  expect(filterHallucinations(text, seconds)).toBe(expected);
});
