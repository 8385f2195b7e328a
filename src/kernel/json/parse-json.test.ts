import { expect, test } from "vitest";
import { parseJson } from "./parse-json.ts";

const parse = (json: string) => parseJson(Buffer.from(json), { maxValues: 100 });

test("parses JSON", () => {
  expect(parse('{"a":[1,"x"]}')).toMatchObject({ value: { a: [1, "x"] } });
});

test("distinguishes malformed JSON from keys that poison prototypes", () => {
  expect(parse('{"a":')).toEqual({ problem: "is not valid JSON: it ends too early, at line 1, column 6" });
  expect(parse('{\n "a": 1,\n}')).toEqual({ problem: 'is not valid JSON: unexpected "}" at line 3, column 1' });
  for (const json of [
    '{"properties":{"__proto__":{}}}',
    '{"a":[{"\\u005f_proto__":1}]}',
    '{"\\u005f\\u005f\\u0070\\u0072\\u006f\\u0074\\u006f\\u005f\\u005f":1}',
    '{"constructor":{"prototype":{}}}',
    '{"c\\u006fnstructor" : {"prototype":{}}}',
  ]) {
    expect(parse(json)).toEqual({ problem: expect.stringMatching(/key `__proto__`.*Rename it/) });
  }
});

test.each(['{"constructor":"x"}', '{"text":"__proto__"}', '{"_proto_":1}'])("accepts %s", (json) => {
  expect(parse(json)).toMatchObject({ value: JSON.parse(json) });
});

// Positions around the length from which strings are searched natively.
test.each([30, 31, 32, 33, 34, 64])("finds the end of strings with escapes at %d characters", (length) => {
  for (const escaped of ['\\"', "\\\\", '\\\\\\"', "é"]) {
    const json = `{"a":"${"x".repeat(length)}${escaped}","b":[1,{"c":"${escaped}"}]}`;
    expect(parse(json)).toMatchObject({ value: JSON.parse(json), source: { members: { length: 8 } } });
  }
});
