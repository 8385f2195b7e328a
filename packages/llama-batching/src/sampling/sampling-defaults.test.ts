import { expect, test } from "vitest";
import { readSamplingDefaults } from "./sampling-defaults.ts";

test("reads the recommended parameters, rounded to what their author wrote", () => {
  const sampling = { temp: Math.fround(0.6), top_p: Math.fround(0.95), top_k: 20, min_p: 0, penalty_repeat: 1 };
  expect(readSamplingDefaults({ general: { sampling: { ...sampling, mirostat: 2 } } })).toEqual({
    temperature: 0.6,
    topP: 0.95,
    topK: 20,
    minP: 0,
    repeatPenalty: 1,
  });
});

test.each([
  [undefined],
  [{}],
  [{ general: { architecture: "llama" } }],
  [{ general: { sampling: { temp: Number.NaN, top_p: 7, top_k: -1, min_p: "0.1" } } }],
])("finds none in %j", (metadata) => {
  expect(readSamplingDefaults(metadata)).toEqual({});
});
