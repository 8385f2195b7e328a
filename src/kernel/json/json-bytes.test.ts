import fc from "fast-check";
import { expect, test } from "vitest";
import { jsonBytes } from "./json-bytes.ts";

const unescaped = fc.string({ unit: "binary" }).map((text) => text.replace(/["\\\p{Cc}\p{Cs}]/gu, ""));

test("counts the bytes that JSON.stringify writes when nothing is escaped", () => {
  const values = fc.jsonValue({ maxDepth: 4, stringUnit: "grapheme-ascii" });
  fc.assert(
    fc.property(values, unescaped, (value, text) => {
      const plain = JSON.parse(JSON.stringify({ value, text }).replace(/\\[^u]|\\u..../g, "x")) as unknown;
      expect(jsonBytes(plain)).toBe(Buffer.byteLength(JSON.stringify(plain)));
    }),
  );
});

test("omits entries that are undefined or omitted by name", () => {
  expect(jsonBytes({ a: undefined, b: [undefined, { image_url: "x".repeat(1000), c: "é" }] }, "image_url")).toBe(
    Buffer.byteLength('{"b":[null,{"c":"é"}]}'),
  );
});
