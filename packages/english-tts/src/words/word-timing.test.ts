/** With the phonemizers, and a network that gives each phoneme and each padding four frames of a hundredth of a second. */

import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { openPhonemizer, type PhonemizedLanguage } from "@parlance-inference/kokoro-phonemes/open-phonemizer";
import { afterAll, beforeAll, expect, test } from "vitest";
import { cutPhonemes } from "../neural/cut-phonemes.ts";
import { Phonemizer, phonemizerFiles } from "../phonemes/phonemizer.ts";
import { toTracedSegments } from "../text/to-segments.ts";
import { type SpokenWord, WordTiming } from "./word-timing.ts";

const SAMPLE_RATE = 1000;
const PHONEME_SECONDS = 0.04;

const models = process.env.PARLANCE_MODELS_DIR || resolve(import.meta.dirname, "../../../../.parlance/models");
const path = (name: string) => join(models, "hibari", name);
let english: Phonemizer;
let vocabulary: Record<string, number>;
beforeAll(async () => {
  vocabulary = JSON.parse(await readFile(path("vocabulary.json"), "utf8"));
  english = await Phonemizer.open(phonemizerFiles(path));
});
afterAll(() => english.close());

async function time(text: string, { language = "en", maxPhonemes = 400 } = {}): Promise<SpokenWord[]> {
  const phonemizer = language === "en" ? english : await openPhonemizer(language as PhonemizedLanguage);
  const phonemize = (sentence: string) => phonemizer.phonemize(sentence);
  const timing = new WordTiming({ phonemize, vocabulary, language, sampleRate: SAMPLE_RATE });
  const words: SpokenWord[] = [];
  for (const segment of toTracedSegments(text, { maxInputCharacters: 4096, maxSentenceCharacters: 200, language })) {
    if ("pauseSeconds" in segment) {
      timing.pause(segment.pauseSeconds * SAMPLE_RATE);
      continue;
    }
    const phonemes = await phonemize(segment.sentence);
    await timing.begin(segment, phonemes);
    for (const ids of cutPhonemes(phonemes, vocabulary, maxPhonemes)) {
      const durations = ids.map(() => 4);
      const samples = new Float32Array((ids.length + 2) * PHONEME_SECONDS * SAMPLE_RATE).fill(1);
      words.push(...timing.take({ ids, durations: [4, ...durations, 4], samples }));
    }
  }
  return words;
}

const writtenIn = async (...given: Parameters<typeof time>) => (await time(...given)).map(({ word }) => word);

test.each([
  ["Dr. Smith paid $9.99 for 5 km on March 3, 2024, at 7:30 pm!"],
  ["On 3 March we met; call +1 555-123-4567 or mail me@example.org, please."],
  ["She said: “Hello”, e.g. to St. Ives on the 22nd, in World War II."],
  ["B2B, COVID-19, IBM's U.S. F-16, x ≥ 5, $1,000-$2,000 and 10-15%."],
  ["1/2 + 1/2 = 1, this & that, state-of-the-art."],
])("finds each word of %j", async (text) => {
  expect(await writtenIn(text)).toEqual(text.split(" "));
});

test.each([
  ["es", "El 14/07/2023 la Sra. Pérez pagó por 3 kg en el siglo XXI."],
  ["fr", "M. Petit a 21 ans et 1 234 euros à 14h30, aujourd'hui."],
  ["it", "Il 3° giorno, il Sig. Rossi paga."],
  ["pt", "No século XIX havia 200 pessoas, às 14h30."],
  ["hi", "वह 9:30 बजे 350 रुपये लाया।"],
])("finds each word of %s", async (language, text) => {
  expect(await writtenIn(text, { language })).toEqual(text.split(" "));
});

test("joins what is silent, and what Mandarin reads as one, with the word before it", async () => {
  expect(await writtenIn("Wait — READMEs (日本語) now.")).toEqual(["Wait —", "READMEs (日本語)", "now."]);
  expect(await writtenIn("2023年，我们去银行。", { language: "zh" })).toEqual(["2023年，", "我们", "去", "银行。"]);
});

test("counts the phonemes of each word, pauses between sentences and the padding", async () => {
  // ˈI kˈæt. and the same after one second: 8 phonemes and 2 paddings, and sounds begin 75 ms before their frames.
  const [first, second, third, fourth] = await time('<speak>I cat.<break time="1s"/>I cat.</speak>');
  expect(first).toEqual({ word: "I", startSeconds: 0, endSeconds: expect.closeTo(0.045, 3) });
  expect(second).toEqual({
    word: "cat.",
    startSeconds: expect.closeTo(0.085, 3),
    endSeconds: expect.closeTo(0.245, 3),
  });
  expect(third?.startSeconds).toBeCloseTo(1.4, 3);
  expect(fourth?.startSeconds).toBeCloseTo(1.485, 3);
});

test("ends a word with its last sound", async () => {
  const timing = new WordTiming({ phonemize: () => "ˈI", vocabulary, language: "en", sampleRate: SAMPLE_RATE });
  await timing.begin({ sentence: "I", written: ["I"] }, "ˈI");
  const samples = new Float32Array(400).fill(1, 0, 180);
  const ids = [vocabulary.ˈ ?? 0, vocabulary.I ?? 0];
  expect(timing.take({ ids, durations: [1, 1, 1, 1], samples })).toEqual([
    { word: "I", startSeconds: 0.025, endSeconds: 0.179 },
  ]);
});

test("reports each word once, in order, where a sentence is cut", async () => {
  const text = "She paid $1,234,567.89 for 25 of them and left the room with a smile.";
  const words = await time(text, { maxPhonemes: 15 });
  expect(words.map(({ word }) => word)).toEqual(text.split(" "));
  const times = words.flatMap(({ startSeconds, endSeconds }) => [startSeconds, endSeconds]);
  expect(times).toEqual(times.toSorted((one, other) => one - other));
});
