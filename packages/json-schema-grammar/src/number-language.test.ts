import fc from "fast-check";
import { expect, test } from "vitest";
import { runCount } from "../test/run-count.ts";
import type { Automaton } from "./automaton.ts";
import { isWithinBounds, type NumberBounds, numberLanguage } from "./number-language.ts";

function accepts(automaton: Automaton | undefined, text: string): boolean {
  let state = automaton?.states[0];
  for (const character of text) {
    const code = character.charCodeAt(0);
    const edge = state?.edges.find(({ ranges }) => ranges.some(([first, last]) => first <= code && code <= last));
    state = edge && automaton?.states[edge.to];
  }
  return state?.accepting ?? false;
}

const decimal = fc
  .tuple(fc.integer({ min: -3000, max: 3000 }), fc.nat(3))
  .map(([digits, subschemas]) => digits / 10 ** subschemas);
const bound = fc.option(fc.record({ value: decimal, exclusive: fc.boolean() }), { nil: undefined });
const bounds: fc.Arbitrary<NumberBounds> = fc.oneof(
  fc.record({ integer: fc.boolean(), minimum: bound, maximum: bound, multipleOf: fc.constant(1) }),
  fc.record({
    integer: fc.constant(true),
    minimum: bound,
    maximum: bound,
    multipleOf: fc.integer({ min: 1, max: 20 }),
  }),
);

test("accepts exactly the numbers within the bounds", () => {
  fc.assert(
    fc.property(bounds, fc.array(decimal, { minLength: 20 }), (limits, values) => {
      const automaton = numberLanguage(limits, 5000);
      const near = [limits.minimum, limits.maximum].flatMap((limit) =>
        limit ? [limit.value, limit.value + 1, limit.value - 1, limit.value + 0.001, limit.value - 0.001] : [],
      );
      for (const value of [...values, ...near.map((number) => Number(number.toFixed(4))), 0]) {
        const text = String(value === 0 ? 0 : value);
        expect(accepts(automaton, text), `${JSON.stringify(limits)} ${text}`).toBe(isWithinBounds(limits, value));
      }
    }),
    { numRuns: runCount(500), seed: 4 },
  );
});

test("excludes decimals that a parser rounds up to an exclusive bound", () => {
  const below = { integer: false, minimum: undefined, maximum: { value: 1, exclusive: true }, multipleOf: 1 };
  expect(accepts(numberLanguage(below, 5000), "0.99999999999999")).toBe(true);
  expect(accepts(numberLanguage(below, 5000), "0.99999999999999999999")).toBe(false);
});

test.each([
  [
    "no integer between the bounds",
    { minimum: { value: 0.4, exclusive: false }, maximum: { value: 0.6, exclusive: false } },
  ],
  ["integers beyond the safe range", { minimum: { value: 1e17, exclusive: false }, maximum: undefined }],
])("returns undefined for %s", (_, limits) => {
  expect(numberLanguage({ integer: true, multipleOf: 1, ...limits }, 5000)).toBeUndefined();
});

test("accepts only plain decimal notation", () => {
  const any = numberLanguage(
    { integer: false, minimum: { value: -5, exclusive: false }, maximum: undefined, multipleOf: 1 },
    5000,
  );
  expect(["0", "-5", "12.50", "-0.1"].filter((text) => !accepts(any, text))).toEqual([]);
  expect(["-0", "01", "1.", ".5", "1e3", "+1", "--1", ""].filter((text) => accepts(any, text))).toEqual([]);
});
