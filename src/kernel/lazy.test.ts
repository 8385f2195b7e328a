import { expect, test } from "vitest";
import { z } from "zod";
import { lazy } from "./lazy.ts";

test("builds the fields of an object once, when it is first used", () => {
  let builds = 0;
  const Person = lazy.object(() => {
    builds += 1;
    return { name: z.string(), age: z.int().optional() };
  });
  const documented = Person.describe("A person.");
  const Team = z.object({ lead: Person.nullable(), members: z.array(documented) });
  const Either = z.union([Person, z.string()]);
  expect(builds).toBe(0);
  const team = { lead: null, members: [{ name: "Ada", age: 36 }] };
  expect(Team.parse(team)).toEqual(team);
  expect(Either.parse({ name: "Ada", other: 1 })).toEqual({ name: "Ada" });
  expect(z.toJSONSchema(Person)).toEqual(z.toJSONSchema(z.object({ name: z.string(), age: z.int().optional() })));
  expect(builds).toBe(1);
});

test.each([
  ["object", { a: "x" }],
  ["strictObject", undefined],
  ["looseObject", { a: "x", b: 1 }],
] as const)("%s treats further fields as zod does", (kind, expected) => {
  const schema = lazy[kind](() => ({ a: z.string() }));
  const parsed = schema.safeParse({ a: "x", b: 1 });
  expect(parsed.data).toEqual(expected);
  expect(parsed.data).toEqual(z[kind]({ a: z.string() }).safeParse({ a: "x", b: 1 }).data);
  expect(z.toJSONSchema(schema)).toEqual(z.toJSONSchema(z[kind]({ a: z.string() })));
});

test("derived objects keep the fields and refinements", () => {
  const Base = lazy.strictObject(() => ({ a: z.string(), b: z.number() }));
  expect(Base.extend({ c: z.boolean() }).parse({ a: "x", b: 1, c: true })).toEqual({ a: "x", b: 1, c: true });
  expect(Base.pick({ a: true }).safeParse({ a: "x", b: 1 }).success).toBe(false);
  expect(Base.partial().parse({})).toEqual({});
  expect(Base.refine(({ b }) => b > 0).safeParse({ a: "x", b: -1 }).success).toBe(false);
  expect(z.discriminatedUnion("a", [Base.extend({ a: z.literal("x") })]).parse({ a: "x", b: 1 })).toEqual({
    a: "x",
    b: 1,
  });
});
