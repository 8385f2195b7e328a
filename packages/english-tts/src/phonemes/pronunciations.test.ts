import { expect, test } from "vitest";
import { Pronunciations, type WordInContext } from "./pronunciations.ts";

const pronunciations = new Pronunciations(
  {
    cat: "kˈæt",
    box: "bˈɑks",
    city: "sˈɪTi",
    stop: "stˈɑp",
    heat: "hˈit",
    add: "ˈæd",
    love: "lˈʌv",
    London: "lˈʌndən",
    read: { DEFAULT: "ɹˈid", VBD: "ɹˈɛd" },
    record: { DEFAULT: "ɹˈɛkəɹd", VERB: "ɹəkˈɔɹd" },
    that: { DEFAULT: "ðæt", DT: "ðˈæt" },
    won: { DEFAULT: "wʌn", None: "wˈʌn" },
    of: "ʌv",
    to: "tu",
    A: "ˈA",
    B: "bˈi",
    F: "ˈɛf",
    I: "ˈI",
    S: "ˈɛs",
    U: "jˈu",
  },
  { heats: "never", gizmo: "ɡˈɪzmO" },
);

function say(text: string, given: Partial<WordInContext> = {}): string | undefined {
  return pronunciations.lookUp({ text, tag: "NN", isBeforeVowel: false, isBeforeTo: false, ...given });
}

test.each([
  ["cat", "kˈæt"],
  ["Cat", "kˈæt"],
  ["london", "lˈʌndən"],
  ["gizmo", "ɡˈɪzmO"],
  ["cats", "kˈæts"],
  ["cat's", "kˈæts"],
  ["boxes", "bˈɑksᵻz"],
  ["cities", "sˈɪTiz"],
  ["stopped", "stˈɑpt"],
  ["stopping", "stˈɑpɪŋ"],
  ["heated", "hˈiɾᵻd"],
  ["heating", "hˈiɾɪŋ"],
  ["added", "ˈædᵻd"],
  ["loving", "lˈʌvɪŋ"],
  ["loved", "lˈʌvd"],
  ["cats'", "kˈæts"],
  ["FBI", "ˌɛfbˌiˈI"],
  ["U.S.", "jˌuˈɛs"],
  ["OF", "ˈʌv"],
  ["Of", "ˌʌv"],
])("pronounces %s as %s", (text, sound) => {
  expect(say(text)).toBe(sound);
});

test.each(["blorf", "Zoltan", "日本", "constructor", "__proto__"])("does not know %s", (text) => {
  expect(say(text)).toBeUndefined();
});

test("pronounces homographs by part of speech", () => {
  expect([say("read", { tag: "VB" }), say("read", { tag: "VBD" })]).toEqual(["ɹˈid", "ɹˈɛd"]);
  expect([say("record"), say("record", { tag: "VBP" })]).toEqual(["ɹˈɛkəɹd", "ɹəkˈɔɹd"]);
});

test("pronounces function words by the next word", () => {
  expect([say("the", { isBeforeVowel: true }), say("the")]).toEqual(["ði", "ðə"]);
  expect([say("to", { isBeforeVowel: true }), say("to"), say("to", { isBeforeVowel: undefined })]).toEqual([
    "tʊ",
    "tə",
    "tu",
  ]);
  expect([say("a", { tag: "DT" }), say("a")]).toEqual(["ɐ", "ˈA"]);
  expect([say("used", { tag: "VBD", isBeforeTo: true }), say("used", { tag: "VBD" })]).toEqual(["jˈust", "jˈuzd"]);
  expect([say("won"), say("won", { isBeforeVowel: undefined })]).toEqual(["wʌn", "wˈʌn"]);
});

const british = new Pronunciations(
  { box: "bˈɒks", heat: "hˈiːt", add: "ˈad", stir: "stˈɜː", see: "sˈiː", B: "bˈiː", Z: "zˈiː" },
  {},
  "british",
);

test.each([
  ["boxes", "bˈɒksɪz"],
  ["heated", "hˈiːtɪd"],
  ["heating", "hˈiːtɪŋ"],
  ["added", "ˈadɪd"],
  ["stirring", "stˈɜːɹɪŋ"],
  ["seeing", "sˈiːɪŋ"],
  ["BZ", "bˌiːzˈɛd"],
])("%s is %s in British English", (text, phonemes) => {
  expect(british.lookUp({ text, tag: "NN", isBeforeVowel: false, isBeforeTo: false })).toBe(phonemes);
});

test("the long vowel of function words is British, too", () => {
  const word = { text: "used", tag: "VBD", isBeforeVowel: false, isBeforeTo: true };
  expect([british.lookUp(word), pronunciations.lookUp(word)]).toEqual(["jˈuːst", "jˈust"]);
});
