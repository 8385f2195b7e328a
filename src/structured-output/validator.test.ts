import { expect, test } from "vitest";
import { validatorOf } from "./validator.ts";

test("says the first violation and where it is", () => {
  const validate = validatorOf(
    { type: "object", properties: { tags: { items: { format: "date" } } }, required: ["tags"] },
    "s",
  );
  expect(validate({ tags: ["2024-02-29"] })).toBeUndefined();
  expect(validate({ tags: ["2024-02-29", "2023-02-29"] })).toBe('/tags/1 must match format "date"');
  expect(validate({})).toBe("/ must have required property 'tags'");
});

test("tells patterns apart", () => {
  const validate = validatorOf({ properties: { a: { pattern: "^a$" }, b: { pattern: "^b$" } } }, "s");
  expect(validate({ a: "a", b: "b" })).toBeUndefined();
  expect(validate({ a: "b" })).toBe('/a must match pattern "^a$"');
  expect(validate({ b: "a" })).toBe('/b must match pattern "^b$"');
});

test("takes what a grammar could not enforce", () => {
  const validate = validatorOf(
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

test("survives answers with names that JavaScript gives a meaning", () => {
  const validate = validatorOf({ enum: [{ valueOf: 1 }], properties: { toString: { type: "string" } } }, "s");
  expect(validate(JSON.parse('{"valueOf":2}'))).toBeDefined();
  expect(validatorOf({ properties: { toString: { type: "string" } } }, "s")({})).toBeUndefined();
});

test("takes earlier drafts, with tuples as they have them", () => {
  const validate = validatorOf(
    { $schema: "http://json-schema.org/draft-07/schema#", items: [{ type: "string" }], additionalItems: false },
    "s",
  );
  expect(validate(["a"])).toBeUndefined();
  expect(validate([1])).toBeDefined();
  expect(validate(["a", 1])).toBeDefined();
});

test("is not held up by patterns that backtrack without end", () => {
  const long = "a".repeat(100_000);
  expect(validatorOf({ pattern: "^(a+)+$" }, "s")(`${long}!`)).toBeDefined();
  expect(validatorOf({ pattern: "^(a+)+\\1?$" }, "s")(`${long}!`)).toBeDefined();
});

test("is not held up by references that double the work with each step", () => {
  const steps = Array.from({ length: 40 }, (_, index) => {
    const next = { $ref: `#/$defs/s${index + 1}` };
    return [
      `s${index}`,
      index < 39 ? { allOf: [next, next], properties: { a: { $ref: "#/$defs/s0" } } } : { type: "object" },
    ];
  });
  const validate = validatorOf({ $ref: "#/$defs/s0", $defs: Object.fromEntries(steps) }, "s");
  expect(validate({})).toContain("to check");
});

test.each([
  ["no schema", 3, "s"],
  ["a broken keyword", { properties: { a: { minLength: -1 } } }, "s.properties.a.minLength"],
  ["a reference to nothing", { $ref: "#/$defs/none" }, "s"],
  ["a remote reference", { $ref: "https://example.org/schema" }, "s"],
])("refuses %s", (_, schema, param) => {
  expect(() => validatorOf(schema, "s")).toThrow(
    expect.objectContaining({ kind: "invalid-request", param, code: "invalid_value" }),
  );
});

test("takes no example for a sign of an earlier draft, which knows fewer keywords", () => {
  const validate = validatorOf({ prefixItems: [{ type: "string" }], examples: [{ items: ["a"] }] }, "s");
  expect(validate(["a"])).toBeUndefined();
  expect(validate([1])).toBe("/0 must be string");
});
