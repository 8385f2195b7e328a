import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { Grammar } from "../test/gbnf-derivation.ts";
import { generatedSchemas } from "../test/generated-schemas.ts";
import { openGrammarReader } from "../test/grammar-reader.ts";
import { runCount } from "../test/run-count.ts";
import { compileGrammar } from "./grammar.ts";
import { compileValidator } from "./validator.ts";

let readerOf: Awaited<ReturnType<typeof openGrammarReader>>;

beforeAll(async () => {
  readerOf = await openGrammarReader();
});

describe("generated schemas with all supported keywords", () => {
  test("grammars derive only valid values", () => {
    let derived = 0;
    fc.assert(
      fc.property(
        generatedSchemas,
        fc.infiniteStream(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })),
        ({ schema }, stream) => {
          const text = compileGrammar(schema, "schema");
          const grammar = new Grammar(text);
          const validate = compileValidator(schema, "schema");
          const accepts = readerOf(text);
          for (let count = 0; count < 10; count += 1) {
            const answer = grammar.derive(() => stream.next().value, 60);
            expect(accepts(answer), answer).toBe(true);
            expect(validate(JSON.parse(answer)), answer).toBeUndefined();
            derived += 1;
          }
        },
      ),
      { numRuns: runCount(60), seed: 1 },
    );
    expect(derived).toBe(10 * runCount(60));
  });

  test("grammars accept valid values in the documented order, and mutated ones only while they are valid", () => {
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
          const accepts = readerOf(compileGrammar(schema, "schema"));
          const validate = compileValidator(schema, "schema");
          expect(validate(value)).toBeUndefined();
          expect(accepts(JSON.stringify(value)), JSON.stringify(value)).toBe(true);
          for (const [subschema, other] of others) {
            const changed = JSON.stringify(withOneChange(value, subschema, other));
            if (validate(JSON.parse(changed)) !== undefined) {
              expect(accepts(changed), changed).toBe(false);
              refused += 1;
            }
          }
        },
      ),
      { numRuns: runCount(100), seed: 2 },
    );
    expect(refused).toBeGreaterThan(2 * runCount(100));
  });
});

/** Replaces, removes or adds one value somewhere inside. */
function withOneChange(value: unknown, subschema: number, other: unknown): unknown {
  if (typeof value !== "object" || value === null || subschema % 4 === 0) {
    return typeof value === "number" && subschema % 3 === 0 ? value + (subschema % 7) - 3 : other;
  }
  const entries = Object.entries(value);
  const at = entries.length === 0 ? 0 : subschema % entries.length;
  const [name, inner] = entries[at] ?? ["added", null];
  const changed =
    subschema % 4 === 1
      ? entries.filter((_, index) => index !== at)
      : subschema % 4 === 2
        ? [...entries, [`${name}+`, other] as const]
        : entries.map((entry, index) =>
            index === at ? ([name, withOneChange(inner, subschema >> 2, other)] as const) : entry,
          );
  return Array.isArray(value) ? changed.map(([, item]) => item) : Object.fromEntries(changed);
}
