import fc from "fast-check";
import { expect, test } from "vitest";
import { generatedPatterns, generatedTexts } from "../test/generated-patterns.ts";
import { compileLinearPattern } from "./linear-pattern.ts";

test("matches as JavaScript does", () => {
  let compiled = 0;
  fc.assert(
    fc.property(generatedPatterns, fc.array(generatedTexts, { minLength: 20, maxLength: 20 }), (source, words) => {
      const linear = compileLinearPattern(source);
      if (linear === undefined) return;
      compiled += 1;
      const native = new RegExp(source, "u");
      for (const word of words) {
        expect(linear.test(word), JSON.stringify([source, word])).toBe(native.test(word));
      }
    }),
    { numRuns: 1_000, seed: 5 },
  );
  expect(compiled).toBeGreaterThan(400);
});

test.each([
  ["\\s", "\u00a0\ufeff"],
  [".", "\n\u2028x"],
  ["^\\w+\\b$", "é"],
  ["[^]", "\n"],
  ["^\\p{Lu}\\P{Lu}$", "Éé"],
  ["[\\dx-]\\/\\u0041\\u{1F600}\\cJ", "x/A😀\n"],
  ["a$", "a\n"],
])("%s matches %j as JavaScript does", (source, text) => {
  expect(compileLinearPattern(source)?.test(text)).toBe(new RegExp(source, "u").test(text));
});

test.each(["(?=a)b", "(?<!a)b", "(a)\\1", "(?i:a)", "a{1,5000}", "[]"])("leaves %s to another engine", (source) => {
  expect(compileLinearPattern(source)).toBeUndefined();
});

test("throws a SyntaxError for malformed patterns", () => {
  expect(() => compileLinearPattern("(")).toThrow(SyntaxError);
  expect(() => compileLinearPattern("\\-")).toThrow(SyntaxError);
});
