import { expect, test } from "vitest";
import { isBritish, languageOf, languagesOf } from "./voice-languages.ts";

test.each([
  ["af_heart", "en"],
  ["bf_emma", "en"],
  ["ef_dora", "es"],
  ["ff_siwis", "fr"],
  ["im_nicola", "it"],
  ["pf_dora", "pt"],
  ["em_alex+af_heart", "es"],
  ["hf_alpha", "hi"],
  ["zf_xiaobei", "zh"],
  ["heart", "en"],
  ["fenrir", "en"],
])("the language of %s is %s", (voice, language) => {
  expect(languageOf(voice)).toBe(language);
});

test("lists each language once", () => {
  expect(languagesOf(["af_heart", "am_onyx", "ef_dora"])).toEqual(["en", "es"]);
});

test("knows British voices, and those of a mix by its first", () => {
  const voices = ["bf_emma", "bm_george+af_heart", "af_heart+bm_george", "heart"];
  expect(voices.map(isBritish)).toEqual([true, true, false, false]);
});
