import { beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { openGrammarReader } from "../../test/support/grammar-reader.ts";
import { anyObjectRules, grammarOfAnyObject, grammarOfSchema, grammarRulesOf } from "./grammar.ts";

let readerOf: Awaited<ReturnType<typeof openGrammarReader>>;

beforeAll(async () => {
  readerOf = await openGrammarReader();
});

const DRAFT_7 = "http://json-schema.org/draft-07/schema#";

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
  "branches that overlap in numbers that are never written": [
    { oneOf: [{ type: "number", minimum: 1e20 }, { type: "number" }] },
    "schema.oneOf",
    "unsupported_value",
  ],
  "branches that overlap in addresses that the format alone never has": [
    {
      oneOf: [
        { type: "string", format: "uri" },
        { type: "string", pattern: "^ftp://a\\.org/$" },
      ],
    },
    "schema.oneOf",
    "unsupported_value",
  ],
  "branches that overlap in one such address": [
    { oneOf: [{ type: "string", format: "uri" }, { const: "ftp://a.org/" }] },
    "schema.oneOf",
    "unsupported_value",
  ],
  "branches that overlap in one such name": [
    {
      oneOf: [
        { type: "object", propertyNames: { format: "uri" }, required: ["ftp://a.org/"] },
        { type: "object", required: ["ftp://a.org/"] },
      ],
    },
    "schema.oneOf",
    "unsupported_value",
  ],
  "a number that JSON cannot write": [{ enum: ["a", JSON.parse("1e400")] }, "schema", "invalid_value"],
  "a tuple closed in two drafts' words": [
    { prefixItems: [{}], additionalItems: false },
    "schema.additionalItems",
    "unsupported_value",
  ],
  "a tuple told twice": [{ items: [{}], prefixItems: [{}] }, "schema.prefixItems", "unsupported_value"],
  "a broken keyword of a later draft": [{ $schema: DRAFT_7, prefixItems: 5 }, "schema.prefixItems", "invalid_value"],
  "a broken definition where the draft has none": [
    { $schema: DRAFT_7, $defs: { a: { type: "object", required: "ab" } }, $ref: "#/$defs/a" },
    "schema.$defs.a.required",
    "invalid_value",
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

test.each([
  { type: "number", minimum: -Number.MAX_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER },
  { type: "number", maximum: 1e50 },
])("numbers keep to bounds beyond what counts exactly: %j", (schema) => {
  const accepts = readerOf(grammarOfSchema(schema, "schema"));
  expect(accepts("12.5")).toBe(true);
  expect(accepts("1e99")).toBe(false);
});

test("branches of different formats exclude each other", () => {
  const formats = ["date", "time", "date-time", "duration", "uuid", "ipv4", "ipv6", "email"];
  const accepts = readerOf(grammarOfSchema({ oneOf: formats.map((format) => ({ type: "string", format })) }, "schema"));
  expect(accepts('"2028-02-29"')).toBe(true);
  expect(accepts('"2028-02-30"')).toBe(false);
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
