import { expect, test } from "vitest";
import { PLAIN_REQUEST } from "../plain-chat.ts";
import { samplingOf } from "./sampling.ts";

const bounds = { vocabularySize: 100, contextWindow: 1024, banned: [] };

test("asks for nothing that was not asked for", () => {
  const { seed, ...rest } = samplingOf(PLAIN_REQUEST, 0, bounds);
  expect(rest).toEqual({ temperature: 1, topP: 1, topK: 256, minP: 0 });
  expect(seed).not.toBe(samplingOf(PLAIN_REQUEST, 0, bounds).seed);
});

test("draws each choice with a seed of its own", () => {
  const seeds = (seed: number) =>
    [0, 1, 2].map((choice) => samplingOf({ ...PLAIN_REQUEST, seed }, choice, bounds).seed);
  expect(seeds(7)).toEqual([7, 8, 9]);
  expect(new Set(seeds(-1))).toHaveLength(3);
  expect(Math.min(...seeds(-5), ...seeds(2 ** 40))).toBeGreaterThanOrEqual(0);
});

test("never reads a bound beyond 32 bits as a small one", () => {
  const topK = (asked: number) => samplingOf({ ...PLAIN_REQUEST, topK: asked }, 0, bounds).topK;
  expect([topK(5), topK(2 ** 32 + 1)]).toEqual([5, 2 ** 31 - 1]);
});

test("counts penalties over the whole answer, and none of the prompt", () => {
  expect(samplingOf({ ...PLAIN_REQUEST, frequencyPenalty: -2, presencePenalty: 0.5 }, 0, bounds)).toMatchObject({
    repeatPenalty: 1,
    repeatPenaltyFrequencyPenalty: -2,
    repeatPenaltyPresencePenalty: 0.5,
    repeatPenaltyMaxTokens: 1024,
    repeatPenaltyTokens: new Uint32Array(),
  });
});

test("biases tokens, but lets none of the banned be drawn", () => {
  const request = { ...PLAIN_REQUEST, logitBias: { 0: -100, 99: 100, 5: 3 } };
  expect(samplingOf(request, 0, { ...bounds, banned: new Set([5, 6]) as never })).toMatchObject({
    tokenBiasKeys: Uint32Array.of(0, 5, 99, 6),
    tokenBiasValues: Float32Array.of(-100, Number.NEGATIVE_INFINITY, 100, Number.NEGATIVE_INFINITY),
  });
});

test.each(["100", "-1", "1.5", "x"])("refuses a bias of token %s, which the model does not have", (id) => {
  expect(() => samplingOf({ ...PLAIN_REQUEST, logitBias: { [id]: 1 } }, 0, bounds)).toThrow(
    expect.objectContaining({
      kind: "invalid-request",
      param: "logit_bias",
      message: expect.stringContaining("0 to 99"),
    }),
  );
});
