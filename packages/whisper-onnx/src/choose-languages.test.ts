import { expect, test } from "vitest";
import { chooseLanguages, isMaybeMixed } from "./choose-languages.ts";

/** "es 0.95 2": the likeliest language, its probability and seconds of speech. */
function toStretch(text: string) {
  const [language = "", probability, seconds] = text.split(" ");
  return { seconds: Number(seconds), languages: [{ language, probability: Number(probability) }] };
}

test.each([
  [["en 0.99 9", "es 0.99 9"], "en es"],
  [["es 0.99 9", "en 0.95 2", "es 0.99 2"], "es en es"],
  // The first stretch, too, follows the language before.
  [["es 0.6 2", "es 0.97 2"], "en es"],
  // Short or unsure.
  [["en 0.99 9", "es 0.99 0.9", "es 0.89 2.9", "es 0.74 20"], "en en en en"],
  [["en 0.99 9", "es 0.9 1", "en 0.75 3"], "en es en"],
])("follows %j with %s", (stretches, languages) => {
  expect(chooseLanguages(stretches.map(toStretch), "en").join(" ")).toBe(languages);
});

test("keeps the language in speech that was not examined", () => {
  expect(chooseLanguages([{ seconds: 0.5, languages: [] }], "fr")).toEqual(["fr"]);
});

test("takes a window for one language only when that is nearly certain", () => {
  expect(isMaybeMixed([{ language: "es", probability: 0.988 }])).toBe(true);
  expect(isMaybeMixed([{ language: "es", probability: 0.991 }])).toBe(false);
});
