import { expect, test } from "vitest";
import type { SpeechModel } from "../../contracts/speech-model.ts";
import { speechAdapter } from "./speech-adapter.ts";

const request = { text: "Hi.", voice: "low", speed: 1, instructions: undefined };
const model = { task: "speech", wordTimes: false } as SpeechModel;

function refusal(wordTimes: boolean, of = model, timed: string[] = []) {
  return speechAdapter({ ...request, wordTimes }, () => timed).refusal(of, "piper");
}

test("refuses word times of a model without them and names those that have them", () => {
  expect(refusal(true, model, ["hibari", "kokoro-82m"])).toMatchObject({
    kind: "invalid-request",
    param: "timestamp_granularities",
    message: expect.stringMatching(/`piper` does not say .*: `hibari`, `kokoro-82m`/),
  });
  expect(refusal(true)?.message).toMatch(/no model of this API key does/);
  expect(refusal(false)).toBeUndefined();
  expect(refusal(true, { ...model, wordTimes: true })).toBeUndefined();
});

test("counts samples only", () => {
  const adapter = speechAdapter(request, () => []);
  const used = { characters: 0, audioSeconds: 0 } as Parameters<typeof adapter.count>[1];
  expect(adapter.count({ words: [] }, used)).toBe(false);
  expect(adapter.count(new Float32Array(3), used)).toBe(true);
  expect(used.audioSeconds).toBe(3);
});

test("bounds the seconds of speech by its characters and its speed", () => {
  const boundOf = (speed: number) => speechAdapter({ ...request, text: "x".repeat(80), speed }, () => []).upperBound();
  expect(boundOf(1)).toMatchObject({ characters: 80, audioSeconds: 20 });
  expect(boundOf(0.25).audioSeconds).toBe(80);
});
