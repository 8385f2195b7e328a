import { getLlama, type Llama, LlamaGrammar } from "node-llama-cpp";
import { beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { anyObjectRules, grammarOfAnyObject, grammarOfSchema, grammarRulesOf } from "./grammar.ts";
import { validatorOf } from "./validator.ts";

let llama: Llama;

beforeAll(async () => {
  llama = await getLlama({ gpu: false, build: "never" });
});

/** llama.cpp's own reading of a grammar. */
function readerOf(grammar: string): (text: string) => boolean {
  const read = new LlamaGrammar(llama, { grammar }) as unknown as { _testText(text: string): boolean };
  return (text) => read._testText(text);
}

interface Case {
  schema: unknown;
  valid: unknown[];
  invalid: unknown[];
  /** JSON as it is written, where JSON.stringify would write it otherwise. */
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
  "type, several": { schema: { type: ["integer", "null"] }, valid: [1, null], invalid: [1.5, "1"] },
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
  "names that are escaped": {
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
  "propertyNames, listed": {
    schema: { type: "object", propertyNames: { enum: ["a", "b"] }, additionalProperties: { type: "integer" } },
    valid: [{}, { a: 1 }, { a: 1, b: 2 }],
    invalid: [{ c: 1 }, { a: "1" }],
  },
  "propertyNames, by pattern": {
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
  "a tuple of earlier drafts": {
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
  "enum beside other keywords": {
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
  "oneOf that exclude each other": {
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
  "oneOf of ranges and formats": {
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
  "$ref into definitions, with more beside it": {
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
  "minLength, maxLength of many": {
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
  "pattern with a look ahead": {
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
  "format uri, of a bounded length": {
    schema: { type: "string", format: "uri", minLength: 1, maxLength: 2083 },
    valid: ["https://example.org/a?b=c#d"],
    invalid: ["example.org", "https://"],
  },
};

describe("each keyword", () => {
  test.each(Object.entries(CASES))("%s", (_, { schema, valid, invalid, written }) => {
    const accepts = readerOf(grammarOfSchema(schema, "schema"));
    const validate = validatorOf(schema, "schema");
    for (const text of [...valid.map((value) => JSON.stringify(value)), ...(written?.valid ?? [])]) {
      expect(accepts(text), text).toBe(true);
      expect(validate(JSON.parse(text)), text).toBeUndefined();
    }
    for (const text of [...invalid.map((value) => JSON.stringify(value)), ...(written?.invalid ?? [])]) {
      expect(accepts(text), text).toBe(false);
    }
  });
});

const REFUSED: Record<string, [schema: unknown, param: string, code: string]> = {
  "an unknown keyword": [
    { properties: { a: { frobnicate: 1 } } },
    "schema.properties.a.frobnicate",
    "unsupported_value",
  ],
  uniqueItems: [{ type: "array", uniqueItems: true }, "schema.uniqueItems", "unsupported_value"],
  patternProperties: [{ patternProperties: { a: {} } }, "schema.patternProperties", "unsupported_value"],
  not: [{ not: { type: "null" } }, "schema.not", "unsupported_value"],
  "if and else": [{ if: {}, else: {} }, "schema.if", "unsupported_value"],
  contains: [{ contains: {} }, "schema.contains", "unsupported_value"],
  nullable: [{ type: "string", nullable: true }, "schema.nullable", "unsupported_value"],
  "a fraction in multipleOf": [{ items: { multipleOf: 0.1 } }, "schema.items.multipleOf", "unsupported_value"],
  "an unknown format": [
    { properties: { "a b": { format: "idn-email" } } },
    'schema.properties["a b"].format',
    "unsupported_value",
  ],
  "a format that no pattern explains": [{ type: "string", format: "base64" }, "schema.format", "unsupported_value"],
  "a backreference": [{ type: "string", pattern: "^(a)\\1$" }, "schema.pattern", "unsupported_value"],
  "a word boundary": [{ type: "string", pattern: "\\ba" }, "schema.pattern", "unsupported_value"],
  "branches that overlap": [{ oneOf: [{ type: "integer" }, { type: "number" }] }, "schema.oneOf", "unsupported_value"],
  "several properties without names": [
    { type: "object", minProperties: 2 },
    "schema.minProperties",
    "unsupported_value",
  ],
  "a remote reference": [{ $ref: "https://example.org/schema" }, "schema.$ref", "unsupported_value"],
  "a reference to nothing": [{ items: { $ref: "#/$defs/none" } }, "schema.items.$ref", "invalid_value"],
  "a reference to itself": [{ $ref: "#" }, "schema.$ref", "invalid_value"],
  "a recursion without end": [
    { $defs: { a: { type: "object", properties: { a: { $ref: "#/$defs/a" } }, required: ["a"] } }, $ref: "#/$defs/a" },
    "schema",
    "invalid_value",
  ],
  "a schema that nothing fits": [{ type: "string", enum: [1] }, "schema", "invalid_value"],
  "no schema": ["text", "schema", "invalid_value"],
  "a broken keyword": [{ properties: { a: { type: "strng" } } }, "schema.properties.a.type", "invalid_value"],
  "a broken pattern": [{ type: "string", pattern: "(" }, "schema.pattern", "unsupported_value"],
  "a nested $id": [
    { properties: { a: { $id: "https://example.org/a" } } },
    "schema.properties.a.$id",
    "unsupported_value",
  ],
};

describe("what cannot be enforced in full is refused", () => {
  test.each(Object.entries(REFUSED))("%s", (_, [schema, param, code]) => {
    expect(() => grammarOfSchema(schema, "schema")).toThrow(
      expect.objectContaining({ kind: "invalid-request", param, code }),
    );
  });
});

const numbered = (count: number, make: (index: number) => unknown) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, make(index)]));

const nested = (depth: number) =>
  Array.from({ length: depth }).reduce((inner) => ({ type: "array", items: inner }), { type: "string" } as unknown);

const HOSTILE: Record<string, unknown> = {
  "thousands of levels": nested(5000),
  "millions of alternatives": {
    allOf: Array.from({ length: 20 }, (_, index) => ({
      anyOf: [{ properties: { [`a${index}`]: {} } }, { properties: { [`b${index}`]: {} } }],
    })),
  },
  "references that double": {
    $defs: numbered(40, (index) => ({ allOf: [{ $ref: `#/$defs/p${index + 1}` }, { $ref: `#/$defs/p${index + 1}` }] })),
    $ref: "#/$defs/p0",
  },
  "a text of a milliard characters": { type: "string", maxLength: 1e9 },
  "an array of a milliard items": { type: "array", minItems: 1e9 },
  "a pattern of a million states": { type: "string", pattern: "^((a{1,100}){1,100}){1,100}$" },
  "a pattern whose automaton explodes": { type: "string", pattern: "^(a|b)*a(a|b){30}$" },
  "many large patterns": {
    type: "object",
    properties: numbered(100, (index) => ({ type: "string", pattern: `^a{0,${index + 400}}b{0,400}$` })),
  },
  "too many optional properties": { type: "object", properties: numbered(2000, () => true) },
  "alternatives that double with each level of an answer": {
    anyOf: [
      { type: "object", properties: { a: { $ref: "#" } } },
      { type: "object", properties: { a: { $ref: "#" }, b: {} } },
    ],
  },
};

test.each(Object.entries(HOSTILE))("a schema with %s is refused with its bound", (_, schema) => {
  expect(() => grammarOfSchema(schema, "schema")).toThrow(expect.objectContaining({ kind: "invalid-request" }));
});

test("large schemas of an honest application are taken by llama.cpp", () => {
  readerOf(grammarOfSchema({ type: "object", properties: numbered(300, () => ({ type: "string" })) }, "schema"));
  const required = numbered(3000, () => ({ type: ["string", "null"], maxLength: 200 }));
  readerOf(grammarOfSchema({ type: "object", properties: required, required: Object.keys(required) }, "schema"));
  readerOf(grammarOfSchema({ enum: Array.from({ length: 5000 }, (_, index) => `value ${index * 7919}`) }, "schema"));
});

test("any object", () => {
  const accepts = readerOf(grammarOfAnyObject());
  expect(accepts('{"a": [1, {"b": null}],\n  "c": "\\u00e9"}')).toBe(true);
  for (const text of ["[]", "1", '{"a":1}}', '{"a"}', `{${"\n".repeat(3)}}`]) {
    expect(accepts(text), text).toBe(false);
  }
});

test("several schemas stand in one grammar without touching each other", () => {
  const accepts = readerOf(
    [
      'root ::= call ( "," call )*',
      'call ::= "{\\"name\\":\\"a\\",\\"arguments\\":" tool-0 "}" | "{\\"name\\":\\"b\\",\\"arguments\\":" tool-1 "}" | other',
      grammarRulesOf({ type: "object", properties: { x: { type: "integer" } }, required: ["x"] }, "tools[0]", "tool-0"),
      grammarRulesOf({ type: "object", properties: { x: { type: "string" } }, required: ["x"] }, "tools[1]", "tool-1"),
      anyObjectRules("other"),
    ].join("\n"),
  );
  const takesArguments = readerOf(
    `root ::= tool\n${grammarRulesOf({}, "tools[0].function.parameters", "tool", "objects")}`,
  );
  expect(takesArguments('{"x":[1]}')).toBe(true);
  expect(["1", "[{}]", '"{}"'].filter(takesArguments)).toEqual([]);
  expect(accepts('{"name":"a","arguments":{"x":1}},{"name":"b","arguments":{"x":"1"}}')).toBe(true);
  expect(accepts('{"name":"a","arguments":{"x":1}},')).toBe(false);
});

test("what zod writes is taken as it is", () => {
  const schema = z.toJSONSchema(
    z.object({
      id: z.uuid(),
      email: z.email(),
      at: z.iso.datetime(),
      day: z.iso.date(),
      link: z.url(),
      count: z.int().positive(),
      share: z.number().min(0).max(1),
      tags: z.array(z.string().min(1)).max(3),
      kind: z.enum(["a", "b"]),
      code: z.cuid2().startsWith("c"),
      note: z.string().optional(),
      parent: z.string().nullable(),
      scores: z.record(z.string(), z.number()),
      pair: z.tuple([z.string(), z.number()]),
      event: z.discriminatedUnion("type", [
        z.object({ type: z.literal("click"), x: z.number() }),
        z.object({ type: z.literal("key"), code: z.string().regex(/^[A-Z]\d$/) }),
      ]),
    }),
  );
  const accepts = readerOf(grammarOfSchema(schema, "schema"));
  const value = {
    id: "123e4567-e89b-42d3-a456-426614174000",
    email: "ada@example.org",
    at: "2024-02-29T12:00:00Z",
    day: "2024-02-29",
    link: "https://example.org/x",
    count: 3,
    share: 0.5,
    tags: ["x"],
    kind: "a",
    code: "c123",
    parent: null,
    scores: { maths: 1.5 },
    pair: ["a", 1],
    event: { type: "key", code: "A1" },
  };
  expect(accepts(JSON.stringify(value))).toBe(true);
  expect(accepts(JSON.stringify({ ...value, count: 0 }))).toBe(false);
  expect(accepts(JSON.stringify({ ...value, code: "d123" }))).toBe(false);
  expect(accepts(JSON.stringify({ ...value, event: { type: "key", code: "a1" } }))).toBe(false);
});
