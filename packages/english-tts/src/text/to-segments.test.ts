import { expect, test } from "vitest";
import { cleanText } from "./clean-text.ts";
import { splitSentences } from "./split-sentences.ts";
import { toSegments } from "./to-segments.ts";

const LIMITS = { maxInputCharacters: 4096, maxSentenceCharacters: 200 };

test.each([
  ["One. Two! Three?", ["One.", "Two!", "Three?"]],
  ["Dr. Smith met J. K. Rowling. They talked.", ["Dr. Smith met J. K. Rowling.", "They talked."]],
  ["It costs 3.50 today. Fine.", ["It costs 3.50 today.", "Fine."]],
  ["First line\nSecond line", ["First line", "Second line"]],
  ["今日は。元気ですか？", ["今日は。", "元気ですか？"]],
])("splits %j into sentences", (text, sentences) => {
  expect(splitSentences(text, 200)).toEqual(sentences);
});

test.each([
  ["es", "La Sra. Pérez llegó. Llamó.", ["La Sra. Pérez llegó.", "Llamó."]],
  ["fr", "M. Petit et Mme. Roy sont là. Bien.", ["M. Petit et Mme. Roy sont là.", "Bien."]],
  ["it", "Il Dott. Rossi parla. Ecco.", ["Il Dott. Rossi parla.", "Ecco."]],
  ["pt", "O Dr. Silva e a Profa. Lima. Sim.", ["O Dr. Silva e a Profa. Lima.", "Sim."]],
])("splits sentences of %s around its abbreviations: %s", (language, text, sentences) => {
  expect(splitSentences(text, 200, language)).toEqual(sentences);
});

test("reads addresses in the language of the text", () => {
  expect(cleanText("Escribe a ana@example.org o mira https://example.org/ayuda.", "es")).toBe(
    "Escribe a ana arroba example punto org o mira example punto org barra ayuda.",
  );
});

test.each([
  ["word ".repeat(500)],
  ["x".repeat(4000)],
  [`${"a clause of some length, ".repeat(40)}and an end.`],
  ["日本語の文章".repeat(300)],
  [`${"👩‍👩‍👧‍👦x".repeat(300)}`],
])("cuts long sentences without losing a letter (%#)", (text) => {
  const pieces = splitSentences(text, 100);
  for (const piece of pieces) {
    expect(piece.length).toBeLessThanOrEqual(100);
    expect(piece.isWellFormed()).toBe(true);
  }
  expect(pieces.join("").replaceAll(/\s/g, "")).toBe(text.replaceAll(/\s/g, ""));
});

test("cuts a long sentence where a clause ends", () => {
  const pieces = splitSentences("When it rained in the night, nobody heard it, since all were asleep by then.", 50);
  expect(pieces).toEqual(["When it rained in the night, nobody heard it,", "since all were asleep by then."]);
});

test.each([
  ["Hi \u{1F600} there \u{1F469}\u200D\u{1F4BB}!", "Hi there !"],
  ["a\u0000b\u200Bc\uD800d", "a b c d"],
  ["soft\u00ADhyphen", "softhyphen"],
  ["**bold** and `code` and snake_case", "bold and code and snake_case"],
  ["See https://example.com/a-b?q=1.", "See example dot com slash a b."],
  ["See https://example.com/?q=1.", "See example dot com."],
  ["(www.example.com/a).", "(www dot example dot com slash a)."],
  ["Read [the guide](https://example.com/a_(b)) now", "Read the guide now"],
  ['See [the guide](https://example.com/a "Title") and ![a cat](cat.png).', "See the guide and a cat."],
  ["f[0](x) is a call", "f[0](x) is a call"],
  ["# Title\n## Part\n* one #tag\n> so", "Title\nPart\none tag\nso"],
  ["We are #1", "We are #1"],
  ["Write to me@example.org, please", "Write to me at example dot org, please"],
  ["a\r\n\r\n  b", "a\nb"],
  ["wow!!!!!!!! well..... 1000000 ======= aaaaa", "wow!!! well... 1000000 === aaaaa"],
  ["5 * 3 = 15", "5 * 3 = 15"],
  ["Mail me+news@example.org or see example.com", "Mail me plus news at example dot org or see example.com"],
  ["He is 5 ft 11 in tall, she 6'1\".", "He is 5 feet 11 inches tall, she 6 feet 1 inch."],
  ["a 1 ft. 1 in. gap; 6′2″", "a 1 foot 1 inch gap; 6 feet 2 inches"],
  ["5 ft in 11 in total", "5 ft in 11 in total"],
])("cleans %j to %j", (text, cleaned) => {
  expect(cleanText(text)).toBe(cleaned);
});

test.each(["", "   ", "\u{1F600}\u{1F600}", "?!…", "\u0000"])("rejects %j, which has no letter or digit", (text) => {
  expect(() => toSegments(text, LIMITS)).toThrow(/nothing that can be spoken/);
});

test("counts code points of a text that is too long", () => {
  expect(() => toSegments("\u{1F600}".repeat(4096), LIMITS)).toThrow(/nothing that can be spoken/);
  expect(() => toSegments("x".repeat(4097), LIMITS)).toThrow(/at most 4096 characters, not 4097/);
});

test.each([
  ["a.".repeat(100_000)],
  ["a-".repeat(100_000)],
  [`http://a${".".repeat(200_000)}x`],
  ["Mr. ".repeat(50_000)],
])("splits a very long text in linear time (%#)", (text) => {
  const limits = { maxInputCharacters: 1_000_000, maxSentenceCharacters: 200 };
  expect(toSegments(text, limits).length).toBeGreaterThan(0);
});
