import fc from "fast-check";
import { expect, test } from "vitest";
import { findSyntaxError } from "./find-syntax-error.ts";

test.each([
  ['{"a": 1,}', 1, 9, "}"],
  ['{\n  "a": 1\n  "b": 2\n}', 3, 3, '"'],
  ["[1, x]", 1, 5, "x"],
  ["{a: 1}", 1, 2, "a"],
  ["{'a': 1}", 1, 2, "'"],
  ['{"a": "b\n"}', 1, 9, "\n"],
  ['{"a": "\\x"}', 1, 8, "\\"],
  ["[01]", 1, 3, "1"],
  ["[1] 2", 1, 5, "2"],
  ["]", 1, 1, "]"],
  ['{"a": 🙂}', 1, 7, "🙂"],
  ['{"a": [1, 2', 1, 12, undefined],
  ['{"a": "b', 1, 9, undefined],
  ["", 1, 1, undefined],
])("finds the error of %j", (text, line, column, character) => {
  expect(findSyntaxError(text)).toEqual({ line, column, character });
});

test("agrees with V8 where it says a position, and accepts what it accepts", () => {
  const edits = fc.record({ at: fc.nat(), insert: fc.constantFrom("", ",", "}", "]", '"', "\\", "\n", "1", "x", ":") });
  fc.assert(
    fc.property(fc.json({ maxDepth: 3 }), edits, (json, { at, insert }) => {
      const place = at % (json.length + 1);
      const text = json.slice(0, place) + insert + json.slice(place + (insert === "" ? 1 : 0));
      const { line, column, character } = findSyntaxError(text);
      try {
        JSON.parse(text);
      } catch (error) {
        const [, position] = /at position (\d+)/.exec((error as Error).message) ?? [];
        if (position === undefined || line > 1) return;
        // V8 points into a broken escape, number or literal.
        if (/[\\\w.+-]/.test(text[column - 1] ?? "")) return;
        expect(column - 1).toBe(Number(position));
        return;
      }
      expect(character).toBeUndefined();
    }),
  );
});
