import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { Grammar } from "../test/gbnf-derivation.ts";
import { openGrammarReader } from "../test/grammar-reader.ts";
import { compileGrammar } from "./grammar.ts";
import { compileValidator } from "./validator.ts";

let readerOf: Awaited<ReturnType<typeof openGrammarReader>>;

beforeAll(async () => {
  readerOf = await openGrammarReader();
});

interface Case {
  schema: unknown;
  valid: unknown[];
  invalid: unknown[];
  /** JSON spellings that JSON.stringify does not produce. */
  written?: { valid?: string[]; invalid?: string[] };
}

const TREE = {
  $defs: {
    node: {
      type: "object",
      properties: { value: { type: "integer" }, children: { type: "array", items: { $ref: "#/$defs/node" } } },
      required: ["value"],
      additionalProperties: false,
    },
  },
  $ref: "#/$defs/node",
};

const CASES: Record<string, Case> = {
  type: { schema: { type: "boolean" }, valid: [true, false], invalid: [null, "true", 0] },
  "several types": { schema: { type: ["integer", "null"] }, valid: [1, null], invalid: [1.5, "1"] },
  "any value": {
    schema: {},
    valid: [1.5e50, { a: [1, "x", null] }, "é😀"],
    invalid: [],
    written: { invalid: ["{", "01"] },
  },
  "true and false": {
    schema: { type: "object", properties: { a: true, b: false } },
    valid: [{}, { a: [1] }],
    invalid: [{ b: 1 }],
  },
  properties: {
    schema: { type: "object", properties: { a: { type: "string" }, b: { type: "integer" }, c: { type: "null" } } },
    valid: [{}, { a: "x" }, { b: 1 }, { c: null }, { a: "x", c: null }, { a: "x", b: 1, c: null }],
    invalid: [{ a: 1 }, { d: 1 }, { b: 1, a: "out of order" }],
    written: {
      valid: ['{ "a": "x",\n  "b":1\n}'],
      invalid: ['{"a":"x",}', '{"a":"x"  ,"b":1}', `{${" ".repeat(30)}}`],
    },
  },
  required: {
    schema: { type: "object", properties: { a: { type: "string" } }, required: ["a", "undescribed"] },
    valid: [{ a: "", undescribed: { x: 1 } }],
    invalid: [{}, { a: "" }, { undescribed: 1 }],
  },
  "names that need escaping": {
    schema: {
      type: "object",
      properties: { 'a"b': { const: 1 }, "c\\d\n": { const: 2 }, "": true },
      required: ['a"b'],
    },
    valid: [{ 'a"b': 1, "c\\d\n": 2, "": 3 }],
    invalid: [{ "c\\d\n": 2 }],
  },
  "additionalProperties: false": {
    schema: { type: "object", properties: { a: {} }, additionalProperties: false },
    valid: [{}, { a: 1 }],
    invalid: [{ b: 1 }, { a: 1, b: 1 }],
  },
  "additionalProperties: schema": {
    schema: { type: "object", properties: { age: { type: "integer" } }, additionalProperties: { type: "string" } },
    valid: [
      { age: 1, x: "y" },
      { ag: "s", agee: "s", "é\n": "" },
    ],
    invalid: [{ age: "x" }, { x: 1 }],
    written: { invalid: ['{"\\u0061ge":"x"}', '{"age":1,"age":"x"}'] },
  },
  "unevaluatedProperties: false": {
    schema: { type: "object", properties: { a: {} }, unevaluatedProperties: false },
    valid: [{ a: 1 }],
    invalid: [{ b: 1 }],
  },
  "propertyNames with an enum": {
    schema: { type: "object", propertyNames: { enum: ["a", "b"] }, additionalProperties: { type: "integer" } },
    valid: [{}, { a: 1 }, { a: 1, b: 2 }],
    invalid: [{ c: 1 }, { a: "1" }],
  },
  "propertyNames with a pattern": {
    schema: {
      type: "object",
      properties: { ab: {} },
      propertyNames: { pattern: "^[a-z]+$" },
      additionalProperties: { type: "integer" },
    },
    valid: [{ x: 1 }, { ab: "x", abc: 2 }],
    invalid: [{ X: 1 }, { x1: 1 }, { abc: "x" }],
  },
  "annotations and unknown keywords": {
    schema: {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      $id: "https://example.org/settings.json",
      fileMatch: ["*.yml"],
      properties: { a: { type: "integer", markdownDescription: "**A**", enumDescriptions: ["x"], format: "seats" } },
      defaultSnippets: [{ body: { a: 1 } }],
    },
    valid: [{}, { a: 1 }],
    invalid: [{ a: "1" }],
  },
  "OpenAPI's nullable": {
    schema: { type: "string", nullable: true, maxLength: 1 },
    valid: ["a", null],
    invalid: ["ab", 1],
  },
  "draft 4's boolean exclusiveMinimum": {
    schema: {
      $schema: "http://json-schema.org/draft-04/schema#",
      id: "https://example.org/x",
      type: "integer",
      minimum: 1,
      exclusiveMinimum: true,
      maximum: 3,
      exclusiveMaximum: false,
    },
    valid: [2, 3],
    invalid: [1, 4],
  },
  "references by $id and $anchor": {
    schema: {
      $id: "https://example.org/root.json",
      type: "object",
      properties: {
        a: { $ref: "lists/numbers.json" },
        b: { $ref: "#word" },
        c: { $ref: "https://example.org/lists/numbers.json#/$defs/one" },
      },
      $defs: {
        numbers: {
          $id: "lists/numbers.json",
          type: "array",
          items: { $ref: "#/$defs/one" },
          $defs: { one: { const: 1 } },
        },
        word: { $anchor: "word", enum: ["x", "y"] },
      },
    },
    valid: [{ a: [1, 1], b: "x", c: 1 }],
    invalid: [{ a: [2] }, { b: "z" }, { c: 2 }],
  },
  patternProperties: {
    schema: {
      type: "object",
      properties: { "x-name": { type: "string", minLength: 2 }, plain: { type: "boolean" } },
      patternProperties: { "^x-": { type: "string", maxLength: 3 }, "\\d$": { type: "string", pattern: "^[a-c]*$" } },
      additionalProperties: { type: "integer" },
    },
    valid: [{ "x-name": "abc", plain: true, "x-y": "zz", "x-1": "abc", n1: "aaaa", other: 5 }],
    invalid: [
      { "x-name": "a" },
      { "x-name": "abcd" },
      { "x-y": "zzzz" },
      { "x-1": "z" },
      { "x-1": "aaaa" },
      { n1: 5 },
      { other: "" },
    ],
    written: { invalid: ['{"\\u0078-y":5}'] },
  },
  "patternProperties without additionalProperties": {
    schema: { type: "object", patternProperties: { "^[a-z]+$": { type: "integer" } }, minProperties: 1 },
    valid: [{ abc: 1 }, { a: 1, b: 2 }],
    invalid: [{}, { A: 1 }, { a: "x" }],
  },
  "required names that match a pattern": {
    schema: { type: "object", patternProperties: { "^n": { type: "integer" } }, required: ["n1"] },
    valid: [{ n1: 3 }, { n1: 3, n2: 4 }],
    invalid: [{ n1: "3" }, { n2: 4 }],
  },
  "if, then and else": {
    schema: {
      type: "object",
      properties: { kind: { enum: ["card", "cash"] }, number: { type: "string" }, coins: { type: "integer" } },
      required: ["kind"],
      if: { properties: { kind: { const: "card" } }, required: ["kind"] },
      then: { required: ["number"] },
      else: { required: ["coins"] },
    },
    valid: [
      { kind: "card", number: "1" },
      { kind: "cash", coins: 2 },
      { kind: "card", number: "1", coins: 1 },
    ],
    invalid: [{ kind: "card" }, { kind: "cash", number: "1" }, { kind: "card", coins: 1 }],
  },
  "several conditions on one property": {
    schema: {
      type: "object",
      properties: { kind: { enum: ["a", "b", "c"] }, size: { type: "integer" }, name: { type: "string" } },
      allOf: [
        { if: { properties: { kind: { const: "a" } }, required: ["kind"] }, then: { required: ["size"] } },
        {
          if: { properties: { kind: { enum: ["b", "c"] } }, required: ["kind"] },
          then: { properties: { name: { minLength: 2 } }, required: ["name"] },
        },
      ],
    },
    valid: [{}, { kind: "a", size: 1 }, { kind: "b", name: "xy" }, { name: "x" }],
    invalid: [{ kind: "a" }, { kind: "b", name: "x" }, { kind: "c" }],
  },
  "if without then": { schema: { type: "boolean", if: { const: true } }, valid: [true, false], invalid: [1] },
  "else of a pattern and of lengths": {
    schema: {
      type: "string",
      maxLength: 4,
      if: { pattern: "^a" },
      then: { minLength: 3 },
      else: { maxLength: 2 },
    },
    valid: ["abc", "abcd", "bc", ""],
    invalid: ["ab", "bcd"],
  },
  "not, of values": {
    schema: { not: { enum: [1, "one", null, true] } },
    valid: [0, 2, 0.5, "two", "", false, [1], {}],
    invalid: [1, "one", null, true],
  },
  "not, of types and bounds": {
    schema: {
      type: ["integer", "string", "array"],
      not: { anyOf: [{ type: "string" }, { type: "integer", minimum: 3 }, { type: "array", maxItems: 1 }] },
    },
    valid: [2, [1, 2]],
    invalid: [3, "x", [1]],
  },
  "not, of required properties": {
    schema: { type: "object", properties: { a: {}, b: {} }, not: { required: ["a", "b"] } },
    valid: [{}, { a: 1 }, { b: 1 }],
    invalid: [{ a: 1, b: 1 }],
  },
  "not, of a reference and of not": {
    schema: { $defs: { short: { maxLength: 2 } }, type: "string", not: { not: { not: { $ref: "#/$defs/short" } } } },
    valid: ["abc"],
    invalid: ["ab"],
  },
  "oneOf with branches that overlap": {
    schema: {
      type: "object",
      properties: { url: { type: "string" }, file: { type: "string" } },
      oneOf: [{ required: ["url"] }, { required: ["file"] }],
    },
    valid: [{ url: "x" }, { file: "x" }],
    invalid: [{}, { url: "x", file: "x" }],
  },
  "oneOf with ranges that overlap": {
    schema: {
      oneOf: [
        { type: "integer", minimum: 0 },
        { type: "integer", maximum: 5 },
      ],
    },
    valid: [-1, 6],
    invalid: [0, 3, 5],
  },
  dependentRequired: {
    schema: {
      type: "object",
      properties: { card: { type: "string" }, address: { type: "string" } },
      dependentRequired: { card: ["address"] },
    },
    valid: [{}, { address: "x" }, { card: "1", address: "x" }],
    invalid: [{ card: "1" }],
  },
  "dependentSchemas and dependencies": {
    schema: {
      type: "object",
      properties: { a: { type: "integer" }, b: { type: "integer" }, c: { type: "integer" } },
      dependentSchemas: { a: { properties: { b: { minimum: 5 } }, required: ["b"] } },
      dependencies: { c: ["a"] },
    },
    valid: [{}, { b: 1 }, { a: 1, b: 5 }, { a: 1, b: 5, c: 1 }],
    invalid: [{ a: 1 }, { a: 1, b: 4 }, { c: 1 }],
  },
  "uniqueItems of listed values": {
    schema: { type: "array", items: { enum: ["a", "b", "c"] }, uniqueItems: true, minItems: 1, maxItems: 2 },
    valid: [["a"], ["b", "a"], ["a", "c"]],
    invalid: [[], ["a", "a"], ["a", "b", "c"]],
  },
  "uniqueItems of booleans and null": {
    schema: { type: "array", items: { type: ["boolean", "null"] }, uniqueItems: true },
    valid: [[], [true, false, null]],
    invalid: [[true, true]],
  },
  "uniqueItems in a literal": {
    schema: { uniqueItems: true, maxItems: 1, enum: [[1, 1], [2]] },
    valid: [[2]],
    invalid: [[1, 1]],
  },
  contains: {
    schema: { type: "array", items: { type: "integer" }, contains: { minimum: 10 }, maxItems: 3 },
    valid: [[10], [1, 2, 10], [10, 1], [10, 11, 12]],
    invalid: [[], [1], [1, 2, 3], [10, "x"], [1, 2, 3, 10]],
  },
  "contains beside prefixItems": {
    schema: { type: "array", prefixItems: [{ type: "string" }], items: { type: "integer" }, contains: { const: 7 } },
    valid: [
      ["a", 7],
      ["a", 1, 7, 2],
    ],
    invalid: [["a"], ["a", 1], [7]],
  },
  "formats of references": {
    schema: { type: "array", items: { type: "string", format: "uri-reference" } },
    valid: [["https://a.org/x?y#z", "../a/b.json", "/x", "#/a", ""]],
    invalid: [["a b"], ["\\"]],
  },
  "minProperties, maxProperties": {
    schema: {
      type: "object",
      properties: { a: {}, b: {}, c: {} },
      required: ["b"],
      minProperties: 2,
      maxProperties: 2,
    },
    valid: [
      { a: 1, b: 1 },
      { b: 1, c: 1 },
    ],
    invalid: [{ b: 1 }, { a: 1, c: 1 }, { a: 1, b: 1, c: 1 }],
  },
  items: { schema: { type: "array", items: { type: "integer" } }, valid: [[], [1], [1, 2]], invalid: [["1"], 1] },
  prefixItems: {
    schema: {
      type: "array",
      prefixItems: [{ type: "string" }, { type: "null" }],
      items: { type: "integer" },
      minItems: 1,
    },
    valid: [["a"], ["a", null], ["a", null, 1, 2]],
    invalid: [[], [1], ["a", 1], ["a", null, "b"]],
  },
  "a tuple in an earlier draft": {
    schema: {
      $schema: "http://json-schema.org/draft-07/schema#",
      type: "array",
      items: [{ type: "string" }],
      additionalItems: false,
    },
    valid: [[], ["a"]],
    invalid: [[1], ["a", "b"]],
  },
  "minItems, maxItems": {
    schema: { type: "array", items: { type: "integer" }, minItems: 1, maxItems: 3 },
    valid: [[1], [1, 2, 3]],
    invalid: [[], [1, 2, 3, 4]],
  },
  enum: {
    schema: { enum: ["a", "ab", 1, null, { x: [1] }, "é\n"] },
    valid: ["a", "ab", 1, null, { x: [1] }, "é\n"],
    invalid: ["b", "abc", 2, { x: [] }],
  },
  "enum next to other keywords": {
    schema: { type: "string", enum: ["a", "bcd", 1], minLength: 2 },
    valid: ["bcd"],
    invalid: ["a", 1],
  },
  const: { schema: { const: { a: "\u0001" } }, valid: [{ a: "\u0001" }], invalid: [{ a: "" }] },
  anyOf: {
    schema: { anyOf: [{ type: "string", maxLength: 2 }, { type: "integer" }, { not: {} }] },
    valid: ["ab", 12],
    invalid: ["abc", 1.5],
  },
  "oneOf with disjoint objects": {
    schema: {
      oneOf: [
        { type: "object", properties: { kind: { const: "a" }, x: { type: "integer" } }, required: ["kind"] },
        { type: "object", properties: { kind: { const: "b" }, y: { type: "string" } }, required: ["kind"] },
      ],
      discriminator: { propertyName: "kind" },
    },
    valid: [
      { kind: "a", x: 1 },
      { kind: "b", y: "1" },
    ],
    invalid: [{ kind: "a", y: "1" }, { kind: "c" }, {}],
  },
  "oneOf with disjoint ranges and formats": {
    schema: {
      oneOf: [
        { type: "integer", maximum: 3 },
        { type: "integer", minimum: 4 },
        { type: "string", format: "date" },
        { type: "string", maxLength: 3 },
      ],
    },
    valid: [3, 4, "2024-02-29", "abc"],
    invalid: ["2023-02-29", "abcd", 3.5],
  },
  allOf: {
    schema: {
      allOf: [
        { type: "object", properties: { a: { type: "integer", minimum: 3 } }, required: ["a"] },
        { properties: { a: { maximum: 5, type: "number" }, b: { type: "string" } } },
      ],
    },
    valid: [{ a: 3 }, { a: 5, b: "x" }],
    invalid: [{ a: 6 }, { a: 2 }, { b: "x" }, { a: 4.5 }],
  },
  "$ref, recursive": {
    schema: TREE,
    valid: [{ value: 1 }, { value: 1, children: [{ value: 2, children: [] }] }],
    invalid: [{ value: 1, children: [{}] }, { children: [] }],
  },
  "$ref into definitions, next to other keywords": {
    schema: { definitions: { n: { type: "integer" } }, type: "array", items: { $ref: "#/definitions/n", minimum: 3 } },
    valid: [[3, 4]],
    invalid: [[2], ["3"]],
  },
  "bounds of integers": {
    schema: { type: "integer", exclusiveMinimum: -5, maximum: 12 },
    valid: [-4, 0, 9, 12],
    invalid: [-5, 13, 120, 1.5],
    written: { invalid: ["-0", "01", "1.0", "+1"] },
  },
  "bounds of numbers": {
    schema: { type: "number", exclusiveMinimum: -0.5, maximum: 1.25 },
    valid: [-0.49, 0, 0.001, 1, 1.25],
    invalid: [-0.5, 1.26, 2, -1],
    written: { valid: ["1.250", "1.0"], invalid: ["-0.50", "1.2500000000001", "1e0"] },
  },
  multipleOf: {
    schema: { type: "integer", multipleOf: 7, minimum: -20, maximum: 50 },
    valid: [-14, 0, 49],
    invalid: [1, -21, 56],
  },
  "minLength, maxLength": {
    schema: { type: "string", minLength: 2, maxLength: 3 },
    valid: ["ab", "é😀\n", '"\\"'],
    invalid: ["a", "abcd"],
    written: { valid: ['"\\ud83d\\ude00\\u00e9a"'], invalid: ['"\\ud83d\\ude00"', '"\\ud83d\\u0061"', '"a\nb"'] },
  },
  "minLength, maxLength of several blocks": {
    schema: { type: "string", minLength: 300, maxLength: 700 },
    valid: ["x".repeat(300), "é".repeat(512), "y".repeat(700)],
    invalid: ["x".repeat(299), "x".repeat(701)],
  },
  pattern: {
    schema: { type: "string", pattern: '^a"\\\\[\\s]b+$' },
    valid: ['a"\\ b', 'a"\\\nb', 'a"\\\u000bbb'],
    invalid: ["ab", 'a"\\b'],
  },
  "pattern without anchors": {
    schema: { type: "string", pattern: "\\d{2}|^x" },
    valid: ["a12b", "xa", "12"],
    invalid: ["a1b", "ax"],
  },
  "pattern with a lookahead": {
    schema: { type: "string", pattern: "^(?!.*\\.\\.)[a.]+$" },
    valid: ["a.a"],
    invalid: ["a..a", ""],
  },
  "pattern and lengths": {
    schema: { type: "string", pattern: "^[a-c]+$", minLength: 2, maxLength: 3 },
    valid: ["ab", "abc"],
    invalid: ["a", "abca", "xy"],
  },
  "format date": {
    schema: { type: "string", format: "date" },
    valid: ["2024-02-29", "2000-02-29", "1999-12-31"],
    invalid: ["2023-02-29", "1900-02-29", "2024-04-31", "2024-13-01", "2024-1-1"],
  },
  "format date-time": {
    schema: { type: "string", format: "date-time" },
    valid: ["2024-02-29T23:59:59Z", "2024-01-01T00:00:00.123+02:00"],
    invalid: ["2024-01-01T24:00:00Z", "2024-01-01", "2024-01-01T00:00:00"],
  },
  "format uuid": {
    schema: { type: "string", format: "uuid" },
    valid: ["123e4567-e89b-12d3-a456-426614174000"],
    invalid: ["123"],
  },
  "format ipv4": {
    schema: { type: "string", format: "ipv4" },
    valid: ["192.168.0.255"],
    invalid: ["256.1.1.1", "01.1.1.1"],
  },
  "format email": {
    schema: { type: "string", format: "email" },
    valid: ["a.b@c.org"],
    invalid: ["a..b@c.org", "a@c", "@"],
  },
  "format uri with maxLength": {
    schema: { type: "string", format: "uri", minLength: 1, maxLength: 2083 },
    valid: ["https://example.org/a?b=c#d"],
    invalid: ["example.org", "https://"],
  },
};

/** Reproducible random texts of a grammar. */
function derivations(grammar: string, count: number): string[] {
  const [source] = fc.sample(fc.infiniteStream(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })), {
    numRuns: 1,
    seed: 1,
  });
  const derivation = new Grammar(grammar);
  return Array.from({ length: count }, () => derivation.derive(() => source?.next().value ?? 0, 60));
}

describe("enforces each keyword", () => {
  test.each(Object.entries(CASES))("%s", (_, { schema, valid, invalid, written }) => {
    const accepts = readerOf(compileGrammar(schema, "schema"));
    const validate = compileValidator(schema, "schema");
    for (const text of [...valid.map((value) => JSON.stringify(value)), ...(written?.valid ?? [])]) {
      expect(accepts(text), text).toBe(true);
      expect(validate(JSON.parse(text)), text).toBeUndefined();
    }
    for (const text of [...invalid.map((value) => JSON.stringify(value)), ...(written?.invalid ?? [])]) {
      expect(accepts(text), text).toBe(false);
    }
    for (const text of derivations(compileGrammar(schema, "schema"), 40)) {
      expect(validate(JSON.parse(text)), text).toBeUndefined();
    }
  });
});
