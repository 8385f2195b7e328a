import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { Grammar } from "../../test/support/gbnf-derivation.ts";
import { generatedSchemas } from "../../test/support/generated-schemas.ts";
import { openGrammarReader } from "../../test/support/grammar-reader.ts";
import { grammarOfSchema } from "./grammar.ts";
import { validatorOf } from "./validator.ts";

let readerOf: Awaited<ReturnType<typeof openGrammarReader>>;

beforeAll(async () => {
  readerOf = await openGrammarReader();
});

describe("schemas of all keywords, nested and combined", { timeout: 300_000 }, () => {
  test("everything that a grammar lets through is valid", () => {
    let derived = 0;
    fc.assert(
      fc.property(
        generatedSchemas,
        fc.infiniteStream(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })),
        ({ schema }, stream) => {
          const text = grammarOfSchema(schema, "schema");
          const grammar = new Grammar(text);
          const validate = validatorOf(schema, "schema");
          const accepts = readerOf(text);
          for (let count = 0; count < 10; count += 1) {
            const answer = grammar.derive(() => stream.next().value, 60);
            expect(accepts(answer), answer).toBe(true);
            expect(validate(JSON.parse(answer)), answer).toBeUndefined();
            derived += 1;
          }
        },
      ),
      { numRuns: 60, seed: 1 },
    );
    expect(derived).toBe(600);
  });

  test("valid documents, in the documented order, are let through; changed ones only as long as they are valid", () => {
    let refused = 0;
    fc.assert(
      fc.property(
        generatedSchemas.chain(({ schema, values }) =>
          fc.record({
            schema: fc.constant(schema),
            value: values,
            others: fc.array(fc.tuple(fc.nat(), fc.jsonValue({ maxDepth: 2 })), { minLength: 5, maxLength: 5 }),
          }),
        ),
        ({ schema, value, others }) => {
          const accepts = readerOf(grammarOfSchema(schema, "schema"));
          const validate = validatorOf(schema, "schema");
          expect(validate(value)).toBeUndefined();
          expect(accepts(JSON.stringify(value)), JSON.stringify(value)).toBe(true);
          for (const [place, other] of others) {
            const changed = JSON.stringify(withOneChange(value, place, other));
            if (validate(JSON.parse(changed)) !== undefined) {
              expect(accepts(changed), changed).toBe(false);
              refused += 1;
            }
          }
        },
      ),
      { numRuns: 100, seed: 2 },
    );
    expect(refused).toBeGreaterThan(200);
  });
});

/** Replaces, removes or adds one value somewhere inside. */
function withOneChange(value: unknown, place: number, other: unknown): unknown {
  if (typeof value !== "object" || value === null || place % 4 === 0) {
    return typeof value === "number" && place % 3 === 0 ? value + (place % 7) - 3 : other;
  }
  const entries = Object.entries(value);
  const at = entries.length === 0 ? 0 : place % entries.length;
  const [name, inner] = entries[at] ?? ["added", null];
  const changed =
    place % 4 === 1
      ? entries.filter((_, index) => index !== at)
      : place % 4 === 2
        ? [...entries, [`${name}+`, other] as const]
        : entries.map((entry, index) =>
            index === at ? ([name, withOneChange(inner, place >> 2, other)] as const) : entry,
          );
  return Array.isArray(value) ? changed.map(([, item]) => item) : Object.fromEntries(changed);
}
