import { expect, test } from "vitest";
import { z } from "zod";
import { optional } from "./optional.ts";
import { sparseSchema } from "./sparse-schema.ts";

const FIELDS = { name: z.string(), size: optional(z.int()), color: optional(z.string()) };
const schemaOf = sparseSchema(FIELDS, ["name"], (fields) => z.looseObject(fields));
const isValid = (value: unknown) => schemaOf(value).safeParse(value).success;

test("validates each present field, in any order and beside any others", () => {
  expect(isValid({ name: "a", size: 1, color: "red" })).toBe(true);
  expect(isValid({ color: "red", size: "1", name: "a" })).toBe(false);
  expect(isValid({ other: 1, color: 2, name: "a" })).toBe(false);
  expect(isValid({ size: 1.5, name: "a", toString: 1 })).toBe(false);
  expect(isValid({ other: 1, size: null, name: "a" })).toBe(true);
});

test("reports a missing required field beside any others", () => {
  for (const value of [{}, { size: 1 }, { size: 1, color: "red" }, { other: 1 }]) expect(isValid(value)).toBe(false);
});

test("reuses the schema for the same fields in another order", () => {
  expect(schemaOf({ name: "a", size: 1 })).toBe(schemaOf({ size: 2, name: "b" }));
  expect(schemaOf({ name: "a", size: 1 })).not.toBe(schemaOf({ name: "a", color: "red" }));
});

test("accepts no more fields than it has variants for", () => {
  const some = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`f${index}`, z.any()]));
  expect(() => sparseSchema(some(53), [], z.looseObject)).not.toThrow();
  expect(() => sparseSchema(some(54), [], z.looseObject)).toThrow("More fields");
});
