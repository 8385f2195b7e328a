import { expect, test } from "vitest";
import { parseAttributes, writeAttributes } from "./attribute-lines.ts";

test("reads what it writes", () => {
  const attributes = {
    year: 2026,
    rate: -1.5,
    team: "sales: north",
    open: true,
    code: "007",
    flag: "true",
    padded: " x",
  };
  expect(parseAttributes(writeAttributes(attributes))).toEqual(attributes);
});

test("ignores empty lines and names one without a value", () => {
  expect(parseAttributes("\n a : b \n\n")).toEqual({ a: "b" });
  expect(() => parseAttributes("year")).toThrow("'year'");
  expect(() => parseAttributes(": 5")).toThrow("': 5'");
});
