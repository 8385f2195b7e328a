import { expect, test } from "vitest";
import { type Beam, BeamSearch } from "./beam-search.ts";
import type { SampledToken } from "./token-sampling.ts";

const END = 9;
const START: Beam = { tokens: [], logProbability: 0 };

/** Tokens with these probabilities; the others may not follow. */
function candidates(probabilities: Readonly<Record<number, number>>): SampledToken[] {
  return Object.entries(probabilities).map(([token, value]) => ({
    token: Number(token),
    logProbability: Math.log(value),
  }));
}

const texts = (beams: readonly Beam[]) => beams.map(({ tokens }) => tokens.join(" "));

test("keeps the likeliest continuations over all beams and names their parents", () => {
  const search = new BeamSearch(2, END);
  const first = search.advance([START], [candidates({ 1: 0.6, 2: 0.4 })]);
  expect(texts(first)).toEqual(["1", "2"]);
  const second = search.advance(first, [candidates({ 3: 0.5, 4: 0.5 }), candidates({ 5: 0.9, 6: 0.1 })]);
  expect(texts(second)).toEqual(["2 5", "1 3"]);
  expect(second.map(({ parent }) => parent)).toEqual([1, 0]);
  expect(second[0]?.logProbability).toBeCloseTo(Math.log(0.36), 5);
});

test("finds a transcript that starts with an unlikely token", () => {
  const search = new BeamSearch(2, END);
  const first = search.advance([START], [candidates({ 1: 0.6, 2: 0.4 })]);
  const second = search.advance(first, [candidates({ 3: 0.4, 4: 0.3, 5: 0.3 }), candidates({ 6: 1 })]);
  const third = search.advance(second, [candidates({ [END]: 1 }), candidates({ [END]: 1 })]);
  expect(third).toEqual([]);
  expect(search.isComplete).toBe(true);
  expect(search.best([]).tokens).toEqual([2, 6]);
});

test("replaces a beam that ends by another continuation", () => {
  const search = new BeamSearch(2, END);
  const beams = search.advance([START], [candidates({ [END]: 0.5, 1: 0.3, 2: 0.2 })]);
  expect(texts(beams)).toEqual(["1", "2"]);
  expect(search.isComplete).toBe(false);
});

test("compares transcripts by their mean log probability per token", () => {
  const search = new BeamSearch(2, END);
  const beams = search.advance([{ tokens: [1], logProbability: Math.log(0.5) }], [candidates({ [END]: 0.5, 2: 0.5 })]);
  search.advance(beams, [candidates({ [END]: 0.9, 3: 0.1 })]);
  // One token at 0.25 in total, two tokens at 0.225 in total.
  expect(search.best([]).tokens).toEqual([1, 2]);
});

test("counts unfinished beams only in place of missing transcripts", () => {
  const search = new BeamSearch(1, END);
  const beams = search.advance([START], [candidates({ 1: 0.9, [END]: 0.1 })]);
  expect(search.best(beams).tokens).toEqual([1]);
  const next = search.advance(beams, [candidates({ [END]: 0.6, 2: 0.4 })]);
  expect(search.best(next).tokens).toEqual([1]);
});
