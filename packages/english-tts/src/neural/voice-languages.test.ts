import { expect, test } from "vitest";
import { languageOf, languagesOf } from "./voice-languages.ts";

test.each([
  ["af_heart", "en"],
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
