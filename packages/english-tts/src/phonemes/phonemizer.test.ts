import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Phonemizer, phonemizerFiles } from "./phonemizer.ts";

let phonemizer: Phonemizer;
beforeAll(async () => {
  const models = process.env.PARLANCE_MODELS_DIR || resolve(import.meta.dirname, "../../../../.parlance/models");
  const path = (name: string) => join(models, "hibari", name);
  phonemizer = await Phonemizer.open(phonemizerFiles(path));
});
afterAll(() => phonemizer.close());

test.each([
  ["The quick brown fox jumps over the lazy dog.", "ðə kwˈɪk bɹˈWn fˈɑks ʤˈʌmps ˈOvəɹ ðə lˈAzi dˈɔɡ."],
  ["The bandage was wound around the wound.", /wˈWnd .* wˈund/u],
  ["I read it yesterday, and I will read it again.", /ɹˈɛd .* ɹˈid/u],
  ["the apple and the pear", /^ði ˈæpᵊl ænd ðə/u],
  ["Doesn't she?", /^dˈʌzᵊnt ʃi\?$/u],
  ["Prices rose 25%.", /twˈɛnti fˈIv pəɹsˈɛnt\.$/u],
  ["Blorfzig", /^[a-zA-ZæðŋɑɔəɛɜɡɪɹʃʊʌʒʤʧθᵊᵻˈˌTWIOQAY]+$/u],
  ["well-known", "wˌɛlnˈOn"],
  ["", ""],
  ["?!", ""],
  ["日本語", ""],
])("phonemizes %j", async (sentence, phonemes) => {
  if (typeof phonemes === "string") expect(await phonemizer.phonemize(sentence)).toBe(phonemes);
  else expect(await phonemizer.phonemize(sentence)).toMatch(phonemes);
});

test("accepts unusual tokens", async () => {
  for (const text of [
    "'",
    "’tis",
    "a--b",
    "((",
    "x'y'z'",
    "-",
    "...",
    "A.",
    "1.",
    "$",
    "\u0301",
    "ﬁne",
    "½",
    "m²",
    "O'Brien's",
    // Names that every object has.
    "The constructor calls toString and hasOwnProperty of __proto__.",
  ]) {
    expect(typeof (await phonemizer.phonemize(text)), text).toBe("string");
  }
});
