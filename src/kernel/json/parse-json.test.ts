import { expect, test } from "vitest";
import { parseJson } from "./parse-json.ts";

const parse = (json: string) => parseJson(Buffer.from(json), { maxValues: 100 });

test("parses JSON", () => {
  expect(parse('{"a":[1,"x"]}')).toEqual({ value: { a: [1, "x"] } });
});

test("distinguishes malformed JSON from keys that poison prototypes", () => {
  expect(parse('{"a":')).toEqual({ problem: "is not valid JSON" });
  for (const json of ['{"properties":{"__proto__":{}}}', '{"constructor":{"prototype":{}}}']) {
    expect(parse(json)).toEqual({ problem: expect.stringMatching(/key `__proto__`.*Rename it/) });
  }
});
