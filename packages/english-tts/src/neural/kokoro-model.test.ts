import { expect, test } from "vitest";
import { kokoroLoudness } from "./kokoro-model.ts";

test.each([
  ["af_nova", -26],
  ["af_aoede+af_nova", -21.8],
  ["an_unknown_voice", -20],
])("levels %s from %d LUFS", (voice, lufs) => {
  expect(kokoroLoudness(voice)).toBeCloseTo(lufs, 5);
});
