import { expect, test } from "vitest";
import type { Answer } from "../conversation.ts";
import { raceOf, speedOf } from "./answer-speed.ts";

function answer(part: Partial<Answer>): Answer {
  return { model: "m", text: "x", alternatives: [], reasoning: "", toolCalls: [], state: "done", ...part };
}
const measured = (firstTokenSeconds: number, seconds: number, completionTokens: number) =>
  answer({ measures: { firstTokenSeconds, seconds, promptTokens: 1, cachedTokens: 0, completionTokens } });

test("measures the rate after the first token", () => {
  expect(speedOf(measured(1, 3, 21))).toEqual({ tokensPerSecond: 10, firstTokenSeconds: 1 });
  expect(speedOf(answer({ progress: { firstTokenSeconds: 1, seconds: 2, tokens: 6 } })).tokensPerSecond).toBe(5);
  expect(speedOf(measured(1, 1.01, 21)).tokensPerSecond).toBeUndefined();
  expect(speedOf(answer({}))).toEqual({ tokensPerSecond: undefined, firstTokenSeconds: undefined });
});

test("names a winner once all answers are complete", () => {
  const [slow, quick] = [measured(0.5, 2.5, 21), measured(1, 2, 31)];
  expect(raceOf([slow, quick])).toEqual({ highest: 30, fastest: 1, first: 0 });
  const running = answer({ state: "running", progress: { firstTokenSeconds: 0.5, seconds: 1, tokens: 11 } });
  expect(raceOf([running, quick])).toEqual({ highest: 30, fastest: undefined, first: undefined });
  expect(raceOf([quick])).toMatchObject({ fastest: undefined, first: undefined });
  expect(raceOf([answer({ state: "failed" }), answer({ state: "failed" })])).toEqual({
    ...{ highest: 0, fastest: undefined, first: undefined },
  });
});
