import { expect, test } from "vitest";
import { sentenceWords } from "../words/sentence-words.ts";
import type { RewrittenPart } from "./rewritten-text.ts";
import { toSegments, toTracedSegments } from "./to-segments.ts";

const LIMITS = { maxInputCharacters: 4096, maxSentenceCharacters: 200 };

/** The words of each sentence, or the seconds of a pause. */
function written(text: string, { language = "en", rewritten = [] as RewrittenPart[] } = {}): (string[] | number)[] {
  return toTracedSegments(text, { ...LIMITS, language }, rewritten).map((segment) =>
    "pauseSeconds" in segment ? segment.pauseSeconds : sentenceWords(segment, language).map((word) => word.written),
  );
}

/** Finds parts of a text by what is spoken there. */
function rewrite(text: string, parts: readonly (readonly [spoken: string, written: string])[]): RewrittenPart[] {
  let start = 0;
  return parts.map(([spoken, word]) => {
    start = text.indexOf(spoken, start + 1);
    return { start, length: spoken.length, written: word };
  });
}

test.each([
  ["One, two.  Three!", [["One,", "two."], ["Three!"]]],
  ["It costs $9.99.", [["It", "costs", "$9.99."]]],
  ["**Bold** and [the guide](https://x.org/a b)", [["Bold", "and", "[the", "guide](https://x.org/a", "b)"]]],
  ["See [the guide](https://example.com/a) now 😀!", [["See", "the", "guide", "now", "!"]]],
  ["Write to me@example.org, please", [["Write", "to", "me@example.org,", "please"]]],
  ["(https://example.com/a-b?q=1).", [["(https://example.com/a-b?q=1)."]]],
  ["He is 5 ft 11 in tall", [["He", "is", "5 ft 11 in", "tall"]]],
  ["Cafe\u0301 now", [["Cafe\u0301", "now"]]],
  ["soft\u00ADhyphen", [["softhyphen"]]],
])("keeps the words of %j as they are written", (text, words) => {
  expect(written(text)).toEqual(words);
});

test("splits Chinese into words", () => {
  expect(written("你好，我们去银行。", { language: "zh" })).toEqual([["你好，", "我们", "去", "银行。"]]);
});

test("gives what was written for words that are spoken otherwise", () => {
  const text = "We say engine X, and Noo Yawk, not engine X.";
  const rewritten = rewrite(text, [
    ["engine X", "nginx"],
    ["Noo Yawk", "New York"],
  ]);
  expect(written(text, { rewritten })).toEqual([["We", "say", "nginx,", "and", "New York,", "not", "engine", "X."]]);
});

test("gives what SSML contains, not its tags and aliases", () => {
  const text =
    '<speak>Ask &amp; <sub alias="World Wide Web">W3</sub> engine X.<break time="1s"/><say-as interpret-as="digits">42</say-as> <sub alias="it">engine X</sub>.</speak>';
  const rewritten = rewrite(text, [
    ["engine X", "nginx"],
    ["engine X", "NGINX"],
  ]);
  expect(written(text, { rewritten })).toEqual([["Ask", "&", "W3", "nginx."], 1, ["42", "NGINX."]]);
});

test("gives what is written within nested tags, and after them", () => {
  const text =
    '<speak><sub alias="it"><say-as interpret-as="characters">engine X</say-as></sub> and <say-as interpret-as="characters"><sub alias="Noo Yawk">NY</sub></say-as> and Woodge.</speak>';
  const rewritten = rewrite(text, [
    ["engine X", "nginx"],
    ["Woodge", "Łódź"],
  ]);
  expect(written(text, { rewritten })).toEqual([["nginx", "and", "NY", "and", "Łódź."]]);
});

test("takes no reference to a private character for a mark of its own", () => {
  const text = "<speak>One&#xE000;two&#57345;three &#x0e000; engine X.</speak>";
  const rewritten = rewrite(text, [["engine X", "nginx"]]);
  expect(written(text, { rewritten })).toEqual([["One", "two", "three", "nginx."]]);
});

test.each([
  ["<speak>One&#xE000;two &#xe001;three&#57344;<sub alias='a&#xE001;b'>c</sub></speak>"],
  ["Dr. Smith, 5'11\", e-mails a@b.org!!!!!! *Now* \u{1F600} and a\u0301 \u212B\uD800 \uE000x\uE001."],
  ["# Title\r\n* one\n> two [three](x) www.example.com/?q=1 \u1112\u1161\u11ab"],
  [`${"a clause of some length, ".repeat(40)}and an end.`],
])("speaks the same sentences as without words (%#)", (text) => {
  const sentences = toTracedSegments(text, LIMITS).map((segment) => ("sentence" in segment ? segment.sentence : ""));
  expect(sentences).toEqual(toSegments(text, LIMITS).map((segment) => ("sentence" in segment ? segment.sentence : "")));
});

test("traces a very long text in linear time", () => {
  const limits = { maxInputCharacters: 1_000_000, maxSentenceCharacters: 200 };
  expect(toTracedSegments("Mail a@b.org. ".repeat(30_000), limits).length).toBeGreaterThan(1000);
});
