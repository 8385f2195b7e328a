import { expect, test } from "vitest";
import { toVoiceList } from "./speech-voices.ts";

const MODEL = {
  model: "m",
  voices: ["af_heart", "ef_dora"],
  voiceAliases: { alloy: "af_heart" },
  languages: ["en", "es"],
};
const languagesOf = (model: Parameters<typeof toVoiceList>[0][number]) =>
  Object.fromEntries(toVoiceList([model]).data.map(({ id, languages }) => [id, languages]));

test("states the language of each voice and alias where the model's voices differ", () => {
  const voiceLanguages = { af_heart: "en", ef_dora: "es" };
  expect(languagesOf({ ...MODEL, voiceLanguages })).toEqual({ af_heart: ["en"], ef_dora: ["es"], alloy: ["en"] });
});

test("states the languages of the model where its voices do not differ", () => {
  expect(languagesOf({ ...MODEL, languages: ["en"] })).toEqual({ af_heart: ["en"], ef_dora: ["en"], alloy: ["en"] });
  expect(languagesOf({ ...MODEL, languages: undefined }).alloy).toBeNull();
});
