import { beforeAll, describe, expect, test } from "vitest";
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
  });
});
