import { beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { openGrammarReader } from "../test/grammar-reader.ts";
import { anyObjectGrammar, anyObjectRules, compileGrammar, compileRules } from "./grammar.ts";

let readerOf: Awaited<ReturnType<typeof openGrammarReader>>;

beforeAll(async () => {
  readerOf = await openGrammarReader();
});

const DRAFT_7 = "http://json-schema.org/draft-07/schema#";

const REFUSED: Record<string, [schema: unknown, path: string, code: string]> = {
  "uniqueItems of unlisted items": [{ type: "array", uniqueItems: true }, "schema.uniqueItems", "unsupported"],
  "not, of a keyword without a complement": [{ type: "string", not: { format: "date" } }, "schema.not", "unsupported"],
  "if, of a keyword without a complement": [
    { type: "string", if: { format: "date" }, else: { minLength: 3 } },
    "schema.if",
    "unsupported",
  ],
  maxContains: [{ contains: {}, maxContains: 2 }, "schema.maxContains", "unsupported"],
  "unevaluatedItems: false": [{ unevaluatedItems: false }, "schema.unevaluatedItems", "unsupported"],
  "unevaluatedProperties beside allOf": [
    { allOf: [{ properties: { a: {} } }], unevaluatedProperties: false },
    "schema.unevaluatedProperties",
    "unsupported",
  ],
  "a dynamic reference": [{ $dynamicRef: "#node" }, "schema.$dynamicRef", "unsupported"],
  "a fraction in multipleOf": [{ items: { multipleOf: 0.1 } }, "schema.items.multipleOf", "unsupported"],
  "a format without an automaton": [
    { properties: { "a b": { type: "string", format: "regex" } } },
    'schema.properties["a b"].format',
    "unsupported",
  ],
  "a pattern of names that is not regular": [
    { type: "object", patternProperties: { "\\bx": {} } },
    'schema.patternProperties["\\\\bx"]',
    "unsupported",
  ],
  "a backreference": [{ type: "string", pattern: "^(a)\\1$" }, "schema.pattern", "unsupported"],
  "a word boundary": [{ type: "string", pattern: "\\ba" }, "schema.pattern", "unsupported"],
  "branches that overlap": [{ oneOf: [{ type: "integer" }, { type: "number" }] }, "schema.oneOf", "unsupported"],
  "minProperties of unnamed properties": [{ type: "object", minProperties: 2 }, "schema.minProperties", "unsupported"],
  "branches that overlap in URIs that the format never generates": [
    {
      oneOf: [
        { type: "string", format: "uri" },
        { type: "string", pattern: "^ftp://a\\.org/$" },
      ],
    },
    "schema.oneOf",
    "unsupported",
  ],
  "branches that overlap in one such URI": [
    { oneOf: [{ type: "string", format: "uri" }, { const: "ftp://a.org/" }] },
    "schema.oneOf",
    "unsupported",
  ],
  "branches that overlap in one such property name": [
    {
      oneOf: [
        { type: "object", propertyNames: { format: "uri" }, required: ["ftp://a.org/"] },
        { type: "object", required: ["ftp://a.org/"] },
      ],
    },
    "schema.oneOf",
    "unsupported",
  ],
  "a number outside the range of a double": [{ enum: ["a", JSON.parse("1e400")] }, "schema", "invalid_schema"],
  "a tuple closed with keywords of two drafts": [
    { prefixItems: [{}], additionalItems: false },
    "schema.additionalItems",
    "unsupported",
  ],
  "a tuple described twice": [{ items: [{}], prefixItems: [{}] }, "schema.prefixItems", "unsupported"],
  "a malformed keyword of a later draft": [
    { $schema: DRAFT_7, prefixItems: 5 },
    "schema.prefixItems",
    "invalid_schema",
  ],
  "a malformed definition under a keyword of a later draft": [
    { $schema: DRAFT_7, $defs: { a: { type: "object", required: "ab" } }, $ref: "#/$defs/a" },
    "schema.$defs.a.required",
    "invalid_schema",
  ],
  "a remote reference": [{ $ref: "https://example.org/schema" }, "schema.$ref", "unsupported"],
  "a reference without a target": [{ items: { $ref: "#/$defs/none" } }, "schema.items.$ref", "invalid_schema"],
  "a reference to itself": [{ $ref: "#" }, "schema.$ref", "invalid_schema"],
  "unbounded recursion": [
    { $defs: { a: { type: "object", properties: { a: { $ref: "#/$defs/a" } }, required: ["a"] } }, $ref: "#/$defs/a" },
    "schema",
    "invalid_schema",
  ],
  "an unsatisfiable schema": [{ type: "string", enum: [1] }, "schema", "invalid_schema"],
  "a value that is not a schema": ["text", "schema", "invalid_schema"],
  "a malformed keyword": [{ properties: { a: { type: "strng" } } }, "schema.properties.a.type", "invalid_schema"],
  "a malformed pattern": [{ type: "string", pattern: "(" }, "schema.pattern", "invalid_schema"],
  "a property named __proto__": [JSON.parse('{"properties":{"__proto__":{}}}'), "schema.properties", "unsupported"],
};

describe("rejects keywords that it cannot enforce exactly", () => {
  test.each(Object.entries(REFUSED))("%s", (_, [schema, path, code]) => {
    expect(() => compileGrammar(schema, "schema")).toThrow(
      expect.objectContaining({ name: "SchemaError", path, code }),
    );
  });
});

test.each([
  { type: "number", minimum: -Number.MAX_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER },
  { type: "number", maximum: 1e50 },
])("enforces limits beyond the safe integers: %j", (schema) => {
  const accepts = readerOf(compileGrammar(schema, "schema"));
  expect(accepts("12.5")).toBe(true);
  expect(accepts("1e99")).toBe(false);
});

test("proves branches with different formats disjoint", () => {
  const formats = ["date", "time", "date-time", "duration", "uuid", "ipv4", "ipv6", "email"];
  const accepts = readerOf(compileGrammar({ oneOf: formats.map((format) => ({ type: "string", format })) }, "schema"));
  expect(accepts('"2028-02-29"')).toBe(true);
  expect(accepts('"2028-02-30"')).toBe(false);
});

const numbered = (count: number, make: (index: number) => unknown) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, make(index)]));

const nested = (depth: number) =>
  Array.from({ length: depth }).reduce((inner) => ({ type: "array", items: inner }), { type: "string" } as unknown);

/** Keywords that are left to validation, so that the rest of the schema can be enforced. */
const PARTIAL: Record<string, [schema: unknown, paths: string[], accepted: unknown[], refused: unknown[]]> = {
  uniqueItems: [{ items: { type: "string" }, uniqueItems: true }, ["s.uniqueItems"], [["a", "a"]], [[1]]],
  "branches that overlap": [
    {
      oneOf: [
        { type: "integer", multipleOf: 2 },
        { type: "integer", multipleOf: 3 },
      ],
    },
    ["s.oneOf"],
    [2, 3, 6],
    [5, "x"],
  ],
  "a pattern that is not regular": [
    { properties: { a: { type: "string", pattern: "^(a)\\1$", maxLength: 2 } }, required: ["a"] },
    ["s.properties.a.pattern"],
    [{ a: "aa" }, { a: "bb" }],
    [{ a: "aaa" }, {}],
  ],
  "patterns of names that are not regular": [
    { type: "object", patternProperties: { "\\bx": { type: "null" }, "^a$": { type: "integer" } } },
    ['s.patternProperties["\\\\bx"]'],
    [{ a: 1 }],
    [{ a: "x" }],
  ],
  "two of contains": [
    { type: "array", allOf: [{ contains: { const: 1 } }, { contains: { const: 2 } }] },
    ["s.allOf[1].contains"],
    [[1], [1, 2]],
    [[2], []],
  ],
};

test.each(Object.entries(PARTIAL))(
  "enforces the rest of a schema beside %s",
  (_, [schema, paths, accepted, refused]) => {
    const unenforced = new Set<string>();
    const accepts = readerOf(compileRules(schema, "s", "root", { unenforced }));
    expect([...unenforced]).toEqual(paths);
    for (const value of accepted) expect(accepts(JSON.stringify(value)), JSON.stringify(value)).toBe(true);
    for (const value of refused) expect(accepts(JSON.stringify(value)), JSON.stringify(value)).toBe(false);
    expect(() => compileGrammar(schema, "s")).toThrow(expect.objectContaining({ code: "unsupported", path: paths[0] }));
  },
);

const TOO_COMPLEX: Record<string, unknown> = {
  "thousands of levels": nested(5000),
  "millions of alternatives": {
    allOf: Array.from({ length: 20 }, (_, index) => ({
      anyOf: [{ properties: { [`a${index}`]: {} } }, { properties: { [`b${index}`]: {} } }],
    })),
  },
  "references that expand exponentially": {
    $defs: numbered(40, (index) => ({ allOf: [{ $ref: `#/$defs/p${index + 1}` }, { $ref: `#/$defs/p${index + 1}` }] })),
    $ref: "#/$defs/p0",
  },
  "a string of a billion characters": { type: "string", minLength: 1e9 },
  "an array of a billion items": { type: "array", minItems: 1e9 },
  "a pattern of a million states": { type: "string", pattern: "^((a{1,100}){1,100}){1,100}$" },
  "a pattern whose automaton explodes": { type: "string", pattern: "^(a|b)*a(a|b){30}$" },
  "many large patterns": {
    type: "object",
    properties: numbered(100, (index) => ({ type: "string", pattern: `^a{0,${index + 400}}b{0,400}$` })),
  },
  "too many optional properties": { type: "object", properties: numbered(2000, () => true) },
  "parses that double with each level of nesting": {
    anyOf: [
      { type: "object", properties: { a: { $ref: "#" } } },
      { type: "object", properties: { a: { $ref: "#" }, b: {} } },
    ],
  },
};

test.each(Object.entries(TOO_COMPLEX))("refuses a schema with %s", (_, schema) => {
  expect(() => compileGrammar(schema, "schema")).toThrow(expect.objectContaining({ name: "SchemaError" }));
});

test("compiles large schemas to grammars that llama.cpp accepts", () => {
  readerOf(compileGrammar({ type: "object", properties: numbered(300, () => ({ type: "string" })) }, "schema"));
  const required = numbered(3000, () => ({ type: ["string", "null"], maxLength: 200 }));
  readerOf(compileGrammar({ type: "object", properties: required, required: Object.keys(required) }, "schema"));
  readerOf(compileGrammar({ enum: Array.from({ length: 5000 }, (_, index) => `value ${index * 7919}`) }, "schema"));
});

test("compiles a grammar for any JSON object", () => {
  const accepts = readerOf(anyObjectGrammar());
  expect(accepts('{"a": [1, {"b": null}],\n  "c": "\\u00e9"}')).toBe(true);
  for (const text of ["[]", "1", '{"a":1}}', '{"a"}', `{${"\n".repeat(3)}}`]) {
    expect(accepts(text), text).toBe(false);
  }
});

test("combines several schemas in one grammar", () => {
  const accepts = readerOf(
    [
      'root ::= call ( "," call )*',
      'call ::= "{\\"name\\":\\"a\\",\\"arguments\\":" tool-0 "}" | "{\\"name\\":\\"b\\",\\"arguments\\":" tool-1 "}" | other',
      compileRules({ type: "object", properties: { x: { type: "integer" } }, required: ["x"] }, "tools[0]", "tool-0"),
      compileRules({ type: "object", properties: { x: { type: "string" } }, required: ["x"] }, "tools[1]", "tool-1"),
      anyObjectRules("other"),
    ].join("\n"),
  );
  const takesArguments = readerOf(
    `root ::= tool\n${compileRules({}, "tools[0].function.parameters", "tool", { values: "objects" })}`,
  );
  expect(takesArguments('{"x":[1]}')).toBe(true);
  expect(["1", "[{}]", '"{}"'].filter(takesArguments)).toEqual([]);
  expect(accepts('{"name":"a","arguments":{"x":1}},{"name":"b","arguments":{"x":"1"}}')).toBe(true);
  expect(accepts('{"name":"a","arguments":{"x":1}},')).toBe(false);
});

test("compiles schemas generated by zod", () => {
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
  const accepts = readerOf(compileGrammar(schema, "schema"));
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
