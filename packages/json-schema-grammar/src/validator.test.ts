import { expect, test } from "vitest";
import { compileValidator } from "./validator.ts";

test("reports the first violation with its location", () => {
  const validate = compileValidator(
    { type: "object", properties: { tags: { items: { format: "date" } } }, required: ["tags"] },
    "s",
  );
  expect(validate({ tags: ["2024-02-29"] })).toBeUndefined();
  expect(validate({ tags: ["2024-02-29", "2023-02-29"] })).toBe('/tags/1 must match format "date"');
  expect(validate({})).toBe("/ must have required property 'tags'");
});

test("keeps patterns apart in the regular-expression cache", () => {
  const validate = compileValidator({ properties: { a: { pattern: "^a$" }, b: { pattern: "^b$" } } }, "s");
  expect(validate({ a: "a", b: "b" })).toBeUndefined();
  expect(validate({ a: "b" })).toBe('/a must match pattern "^a$"');
  expect(validate({ b: "a" })).toBe('/b must match pattern "^b$"');
});

test("validates keywords that a grammar cannot enforce", () => {
  const validate = compileValidator(
    {
      type: "array",
      uniqueItems: true,
      items: { pattern: "^(.)\\1\\b", not: { const: "bb" } },
      contains: { const: "aa" },
    },
    "s",
  );
  expect(validate(["aa", "cc"])).toBeUndefined();
  expect(validate(["aa", "aa"])).toContain("must NOT have duplicate items");
  expect(validate(["aa", "ab"])).toContain("must match pattern");
});

test("validates values with property names that are special in JavaScript", () => {
  const validate = compileValidator({ enum: [{ valueOf: 1 }], properties: { toString: { type: "string" } } }, "s");
  expect(validate(JSON.parse('{"valueOf":2}'))).toBeDefined();
  expect(compileValidator({ properties: { toString: { type: "string" } } }, "s")({})).toBeUndefined();
});

test("validates tuples of earlier drafts", () => {
  const validate = compileValidator(
    { $schema: "http://json-schema.org/draft-07/schema#", items: [{ type: "string" }], additionalItems: false },
    "s",
  );
  expect(validate(["a"])).toBeUndefined();
  expect(validate([1])).toBeDefined();
  expect(validate(["a", 1])).toBeDefined();
});

test("matches patterns in linear time that backtrack exponentially elsewhere", () => {
  const validate = compileValidator({ pattern: "^(a+)+\\b$" }, "s");
  expect(validate(`${"a".repeat(100_000)}!`)).toContain("must match pattern");
});

test("limits the time of backreferences that backtrack exponentially", () => {
  const validate = compileValidator({ pattern: "^(a+)+\\1?$" }, "s");
  expect(() => validate(`${"a".repeat(100)}!`, 100)).toThrow(
    expect.objectContaining({ name: "SchemaError", path: "s", code: "too_complex" }),
  );
});

test("limits the time of references that expand exponentially", () => {
  const steps = Array.from({ length: 40 }, (_, index) => {
    const next = { $ref: `#/$defs/s${index + 1}` };
    return [
      `s${index}`,
      index < 39 ? { allOf: [next, next], properties: { a: { $ref: "#/$defs/s0" } } } : { type: "object" },
    ];
  });
  const validate = compileValidator({ $ref: "#/$defs/s0", $defs: Object.fromEntries(steps) }, "s");
  expect(() => validate({})).toThrow(expect.objectContaining({ name: "SchemaError", path: "s", code: "too_complex" }));
});

test.each([
  ["a value that is not a schema", 3, "s"],
  ["a malformed keyword", { properties: { a: { minLength: -1 } } }, "s.properties.a.minLength"],
  ["a reference without a target", { $ref: "#/$defs/none" }, "s"],
  ["a remote reference", { $ref: "https://example.org/schema" }, "s"],
])("rejects %s", (_, schema, path) => {
  expect(() => compileValidator(schema, "s")).toThrow(
    expect.objectContaining({ name: "SchemaError", path, code: "invalid_schema" }),
  );
});

test("ignores examples when it detects earlier drafts", () => {
  const validate = compileValidator({ prefixItems: [{ type: "string" }], examples: [{ items: ["a"] }] }, "s");
  expect(validate(["a"])).toBeUndefined();
  expect(validate([1])).toBe("/0 must be string");
});
