import { expect, test } from "vitest";
import { kokoroLoudness } from "./kokoro-model.ts";

test.each([
  ["af_nova", -26],
  ["af_aoede+af_nova", -21.8],
  ["af_nova+an_unknown_voice", -23],
])("levels %s from %d LUFS", (voice, lufs) => {
  expect(kokoroLoudness(voice)).toBeCloseTo(lufs, 5);
});

test("has no loudness of a voice that was not measured", () => {
  expect(kokoroLoudness("an_unknown_voice")).toBeUndefined();
});
