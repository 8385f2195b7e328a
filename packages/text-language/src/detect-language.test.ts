import { expect, test } from "vitest";
import { detectLanguage } from "./detect-language.ts";

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
