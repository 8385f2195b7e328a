import fc from "fast-check";

/** Patterns of classes, groups, quantifiers, anchors and lookaheads. */
export const { pattern: generatedPatterns } = fc.letrec<{ pattern: string }>((tie) => ({
  pattern: fc.oneof(
    { maxDepth: 4, depthSize: "small" },
    fc.constantFrom("a", "b", "ab", "\\d", ".", "[^a]", "\\S", "é", "", "^", "$", "\\u{1F600}"),
    fc.tuple(tie("pattern"), tie("pattern")).map(([left, right]) => left + right),
    fc.tuple(tie("pattern"), tie("pattern")).map(([left, right]) => `(?:${left}|${right})`),
    fc.tuple(tie("pattern"), tie("pattern")).map(([left, right]) => `${left}|${right}`),
    fc.tuple(tie("pattern"), fc.constantFrom("*", "+", "?", "{1,2}", "*?")).map(([inner, sign]) => `(${inner})${sign}`),
    fc
      .tuple(fc.constantFrom("?=", "?!"), tie("pattern"), tie("pattern"))
      .map(([look, ahead, rest]) => `^(${look}${ahead})${rest}`),
  ),
}));

/** Short strings over the characters that the patterns mention. */
export const generatedTexts = fc.string({ unit: fc.constantFrom("a", "b", "1", " ", "\n", "é", "😀"), maxLength: 5 });
