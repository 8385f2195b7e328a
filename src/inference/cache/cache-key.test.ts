import { expect, test } from "vitest";
import { toCacheKey } from "./cache-key.ts";

const keyOf = (parts: unknown, more: object = {}) =>
  toCacheKey({ scopeId: "proj_a", model: "m", version: "1", headers: {}, parts, ...more });
const long = "x".repeat(3000);

test("differs for values whose texts are alike", () => {
  const values = [
    [`${long},"b"`],
    [long, "b"],
    [long, ["b"]],
    [[long], "b"],
    [`${long}b`],
    { a: long },
    { a: long, b: null },
    ["1", 2],
    [1, "2"],
    ["[1,2]"],
    [1, 2],
    [[1], 2],
    [12],
    [true],
    ["true"],
    [null],
    [[]],
    [{}],
    [`3000:${long}`],
    [`${long}\ud800`],
    [`${long}\udbff`],
    [`${long}\ufffd`],
    ["\ud800"],
    ["\ufffd"],
  ];
  expect(new Set(values.map((value) => keyOf(value))).size).toBe(values.length);
});

test("is the same for the same values, without fields that are not set", () => {
  expect(keyOf([{ a: [long, 1], b: undefined }])).toBe(keyOf([{ a: [long, 1] }]));
  expect(keyOf(Array.from({ length: 100_000 }, (_each, index) => index))).toHaveLength(43);
});

test("differs by scope, model, version and headers, in any order", () => {
  const headers = { a: "1", b: "2" };
  const keys = [
    keyOf("a"),
    keyOf("a", { scopeId: "proj_b" }),
    keyOf("a", { model: "n" }),
    keyOf("a", { version: "2" }),
    keyOf("a", { headers }),
  ];
  expect(new Set(keys).size).toBe(keys.length);
  expect(keyOf("a", { headers: { b: "2", a: "1" } })).toBe(keyOf("a", { headers }));
});
