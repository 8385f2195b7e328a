import { expect, test } from "vitest";
import { initialValues, toFields, toInput } from "./schema-fields.ts";

const SCHEMA = {
  type: "object",
  properties: {
    query: { type: "string", title: "Question", description: "What to find" },
    limit: { type: "integer", default: 10 },
    score: { anyOf: [{ type: "number" }, { type: "null" }], description: "At least" },
    sort: { enum: ["newest", "oldest", 3], default: "newest" },
    exact: { type: ["boolean", "null"] },
    tags: { type: "array", items: { type: "string" } },
    filter: { type: "object", properties: { a: { type: "string" } } },
    unit: { oneOf: [{ const: "km" }, { const: "mi" }] },
  },
  required: ["query", "tags"],
};
const fields = toFields(SCHEMA) ?? [];

test("makes a field of each property, by its type", () => {
  expect(fields.map(({ name, kind, isRequired }) => `${name} ${kind}${isRequired ? " required" : ""}`)).toEqual([
    "query text required",
    "limit integer",
    "score number",
    "sort choice",
    "exact boolean",
    "tags texts required",
    "filter json",
    "unit choice",
  ]);
  expect(fields[0]).toMatchObject({ label: "Question", description: "What to find" });
  expect(fields[2]).toMatchObject({ label: "score", description: "At least" });
  expect(initialValues(fields)).toMatchObject({ limit: "10", sort: "newest", tags: [], query: "" });
});

test("reads the input in the types of the schema, and leaves out what is empty", () => {
  const values = {
    query: "otters",
    limit: "5",
    score: "0.5",
    sort: "3",
    exact: "false",
    tags: ["a"],
    filter: '{"a":"b"}',
  };
  expect(toInput(fields, values)).toEqual({
    problems: {},
    input: { query: "otters", limit: 5, score: 0.5, sort: 3, exact: false, tags: ["a"], filter: { a: "b" } },
  });
});

test("names what cannot be sent", () => {
  expect(toInput(fields, { query: "", limit: "1.5", score: "x", filter: "{" })).toEqual({
    problems: { query: "missing", limit: "integer", score: "number", filter: "json" },
    input: { tags: [] },
  });
});

test("leaves schemas that are not one object to JSON", () => {
  expect(toFields({ anyOf: [{ type: "object" }] })).toBeUndefined();
  expect(toFields({ type: "object" })).toEqual([]);
});
