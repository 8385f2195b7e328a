import { expect, test } from "vitest";
import { suggestionAt, withoutSuggestion } from "./suggestion.ts";

test.each([
  ["#", { kind: "store", search: "", start: 0, end: 1 }],
  ["What does #hand", { kind: "store", search: "hand", start: 10, end: 15 }],
  ["/sum", { kind: "prompt", search: "sum", start: 0, end: 4 }],
  ["Line\n#a", { kind: "store", search: "a", start: 5, end: 7 }],
])("reads what %j asks for", (draft, expected) => {
  expect(suggestionAt(draft, draft.length)).toEqual(expected);
});

test.each(["C# is", "# heading", "see /etc/hosts", "/usr/bin", "issue#4", "Hello"])(
  "asks for nothing in %j",
  (draft) => {
    expect(suggestionAt(draft, draft.length)).toBeUndefined();
  },
);

test("reads the word at the cursor, and removes it", () => {
  const draft = "Ask #ha about holidays";
  const suggestion = suggestionAt(draft, 7);
  expect(suggestion).toMatchObject({ search: "ha" });
  expect(suggestion && withoutSuggestion(draft, suggestion)).toBe("Ask  about holidays");
});
