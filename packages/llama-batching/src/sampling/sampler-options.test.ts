import { expect, test } from "vitest";
import { makeGenerationRequest } from "../../test/generation-request.ts";
import { toSamplerOptions } from "./sampler-options.ts";

const DEFAULTS = makeGenerationRequest();
const limits = { vocabularySize: 100, contextWindow: 1024, bannedTokens: [] };

test("uses neutral defaults", () => {
  const { seed, ...rest } = toSamplerOptions(DEFAULTS, 0, limits);
  expect(rest).toEqual({ temperature: 1, topP: 1, topK: 256, minP: 0 });
  expect(seed).not.toBe(toSamplerOptions(DEFAULTS, 0, limits).seed);
});

test("gives each choice another seed", () => {
  const seeds = (seed: number) =>
    [0, 1, 2].map((choice) => toSamplerOptions({ ...DEFAULTS, seed }, choice, limits).seed);
  expect(seeds(7)).toEqual([7, 8, 9]);
  expect(new Set(seeds(-1))).toHaveLength(3);
  expect(Math.min(...seeds(-5), ...seeds(2 ** 40))).toBeGreaterThanOrEqual(0);
});

test("clamps top_k to 32 bits", () => {
  const topK = (asked: number) => toSamplerOptions({ ...DEFAULTS, topK: asked }, 0, limits).topK;
  expect([topK(5), topK(2 ** 32 + 1)]).toEqual([5, 2 ** 31 - 1]);
});

test("applies penalties to the complete answer and not to the prompt", () => {
  expect(toSamplerOptions({ ...DEFAULTS, frequencyPenalty: -2, presencePenalty: 0.5 }, 0, limits)).toMatchObject({
    repeatPenalty: 1,
    repeatPenaltyFrequencyPenalty: -2,
    repeatPenaltyPresencePenalty: 0.5,
    repeatPenaltyMaxTokens: 1024,
    repeatPenaltyTokens: new Uint32Array(),
  });
});

test("counts only the most recent tokens with repeatLastN", () => {
  const penaltyTokens = (repeatLastN: number) =>
    toSamplerOptions({ ...DEFAULTS, repeatPenalty: 1.1, repeatLastN }, 0, limits).repeatPenaltyMaxTokens;
  expect([penaltyTokens(64), penaltyTokens(1_000_000)]).toEqual([64, 1024]);
});

test("applies biases but never samples banned tokens", () => {
  const request = { ...DEFAULTS, logitBias: { 0: -100, 99: 100, 5: 3 } };
  expect(toSamplerOptions(request, 0, { ...limits, bannedTokens: new Set([5, 6]) as never })).toMatchObject({
    tokenBiasKeys: Uint32Array.of(0, 5, 99, 6),
    tokenBiasValues: Float32Array.of(-100, Number.NEGATIVE_INFINITY, 100, Number.NEGATIVE_INFINITY),
  });
});

test.each(["100", "-1", "1.5", "x"])("rejects a bias of the unknown token %s", (id) => {
  expect(() => toSamplerOptions({ ...DEFAULTS, logitBias: { [id]: 1 } }, 0, limits)).toThrow(
    expect.objectContaining({
      name: "RequestError",
      param: "logit_bias",
      message: expect.stringContaining("0 to 99"),
    }),
  );
});
