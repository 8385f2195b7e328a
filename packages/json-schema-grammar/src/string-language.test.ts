import fc from "fast-check";
import { expect, test } from "vitest";
import { generatedPatterns, generatedTexts } from "../test/generated-patterns.ts";
import {
  codePoints,
  complementOf,
  intersect,
  lengthLanguage,
  lengthsOf,
  patternLanguage,
  UnsupportedPattern,
} from "./string-language.ts";

test("accepts exactly the strings in which the pattern matches", () => {
  let refused = 0;
  fc.assert(
    fc.property(generatedPatterns, fc.array(generatedTexts, { minLength: 20, maxLength: 20 }), (source, words) => {
      let language: ReturnType<typeof patternLanguage>;
      try {
        language = patternLanguage(source);
      } catch (error) {
        expect(error).toBeInstanceOf(UnsupportedPattern);
        refused += 1;
        return;
      }
      for (const word of words) {
        expect(language.test(codePoints(word)), JSON.stringify([source, word])).toBe(
          new RegExp(source, "u").test(word),
        );
      }
    }),
    { numRuns: 600, seed: 3 },
  );
  expect(refused).toBeLessThan(200);
});

test("intersects and complements languages exactly", () => {
  const language = intersect(intersect(patternLanguage("^[ab]+$"), lengthLanguage(2, 3)), complementOf(["ab", "bbb"]));
  const accepted = ["a", "aa", "ab", "ba", "aab", "bbb", "aaaa", "ac"].filter((text) =>
    language.test(codePoints(text)),
  );
  expect(accepted).toEqual(["aa", "ba", "aab"]);
  expect(lengthsOf(language)).toEqual({ min: 2, max: 3 });
});

test("computes lengths of infinite languages", () => {
  expect(lengthsOf(patternLanguage("^ab*$"))).toEqual({ min: 1, max: Infinity });
  expect(lengthsOf(patternLanguage("^(abc|de?)$"))).toEqual({ min: 1, max: 3 });
  expect(lengthsOf(intersect(patternLanguage("^a$"), patternLanguage("^b$")))).toBeUndefined();
});
