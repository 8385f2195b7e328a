import { expect, test } from "vitest";
import { detectLanguage, mayBeForeign, mayBeIn } from "./detect-language.ts";

test.each([
  ["Ich bin heute sehr müde und gehe ins Bett.", "German", "de"],
  ["Je ne sais pas où elle est, mais je vais la trouver et lui parler.", "French", "fr"],
  ["The meeting begins at nine, and all of us will have lunch after it.", "English", "en"],
  ["Сегодня хорошая погода.", "Cyrillic script", "ru"],
  ["今日はとてもいい天気です。", "Japanese script", "ja"],
])("detects the language of %j", async (text, name, code) => {
  expect(await detectLanguage(text)).toMatchObject({ name, codes: expect.arrayContaining([code]) });
});

test.each([
  "",
  "Guten Tag.",
  "C'est la vie.",
  "kill him",
  "Le Monde, Le Figaro, La Croix, Les Échos, Libération",
  "Die Sitzung ist um neun, and then all of us go to lunch, und danach gehen wir nach Hause, or to the park.",
])("returns undefined for the uncertain %j", async (text) => {
  expect(await detectLanguage(text)).toBeUndefined();
});

test.each([
  [["German", "de"], ["en"], false],
  [["German", "de"], ["de"], true],
  [["English", "en"], ["de", "fr"], false],
  [["Norwegian", "no"], ["da"], true],
  [["Spanish", "es"], ["it"], false],
  // Luxembourgish is not detected; Russian is never in the Latin script.
  [["German", "de"], ["lb"], true],
  [["German", "de"], ["ru"], false],
  [["Cyrillic script", "ru"], ["de"], false],
  [["Cyrillic script", "ru"], ["en", "ru"], true],
])("decides whether a text in %j may be in one of %j", ([name = "", code = ""], languages, expected) => {
  expect(mayBeIn({ name, codes: [code] }, languages)).toBe(expected);
});

test.each([
  [["en", "ru"], false],
  [["am"], true],
])("decides whether a text in a rare script may be in one of %j", (languages, expected) => {
  expect(mayBeIn({ name: "another script than Latin", codes: [] }, languages)).toBe(expected);
});

test.each([
  ["Bring dich doch um.", true],
  ["T'es trop nul", true],
  ["Mátate", true],
  ["今夜殺しに行く", true],
  ["I will find you.", false],
  ["Die in a fire, all of you.", false],
  ["kill him", false],
  // Function words of other languages, which are English words as well.
  ["DIE BITCH", false],
  ["I want a lollipop", false],
  ["No, I'm not interested.", false],
  ["i just want to die", false],
  ["One people. One nation.", false],
  // Words that English has, too, beside others or letters with marks.
  ["Frauen gehören in einen Zoo.", true],
  ["Estos perros me dan mucho asco.", true],
  ["Die sind alle so gut wie tot.", true],
  ["Naomi Campbell", false],
  ["café", true],
  ["We met at the café.", false],
  ["", false],
])("guesses whether %j is foreign: %s", async (text, isForeign) => {
  expect(await mayBeForeign(text)).toBe(isForeign);
});
