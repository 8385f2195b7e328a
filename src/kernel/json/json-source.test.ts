import fc from "fast-check";
import { expect, test } from "vitest";
import { type JsonSource, replaceMembers } from "./json-source.ts";
import { parseLargeJson } from "./large-json.ts";
import { parseJson } from "./parse-json.ts";

const LIMITS = { maxValues: 100_000 };

function parsed(json: string): { value: unknown; source: JsonSource | undefined } {
  const result = parseJson(Buffer.from(json), LIMITS);
  if (result.problem !== undefined) throw new Error(result.problem);
  return { value: result.value, source: result.source };
}

function replaced(json: string, members: Record<string, string>): string {
  const { source } = parsed(json);
  if (source === undefined) throw new Error("no source");
  return Buffer.concat(replaceMembers(source, members)).toString();
}

/** JSON with spaces, long texts, and texts that look like JSON. */
const text = fc.oneof(fc.string(), fc.constant('{"model":[1,2]}\\"'), fc.string({ minLength: 40, maxLength: 90 }));
/** `__proto__` and `constructor` are refused. */
const key = text.filter((name) => name !== "__proto__" && name !== "constructor");
const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { maxDepth: 3 },
    text,
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.constantFrom(true, false, null),
    fc.array(tie("any")),
    fc.dictionary(key, tie("any")),
  ),
})).any;
const body = fc.dictionary(fc.oneof(fc.constantFrom("model", "stream", "messages"), key), value);

test("replaces members as parsing, changing and writing would", () => {
  fc.assert(
    fc.property(body, fc.constantFrom(undefined, 1, "\t"), (fields, indent) => {
      const json = JSON.stringify(fields, undefined, indent);
      const changed = replaced(json, { model: '"other"', stream_options: '{"include_usage":true}' });
      expect(JSON.parse(changed)).toEqual({
        ...JSON.parse(json),
        model: "other",
        stream_options: { include_usage: true },
      });
    }),
    { numRuns: 2_000 },
  );
});

test.each([
  ['{"model":"a","n":1.0,"seed":9007199254740993}', '{"model":"b","n":1.0,"seed":9007199254740993}'],
  ['{ "n" : 1, "model" : "a" }\n', '{ "n" : 1, "model" :"b"}\n'],
  ['{"mod\\u0065l":"a"}', '{"mod\\u0065l":"b"}'],
  ["{}", '{"model":"b"}'],
  ['{"metadata":{"model":"a"}}', '{"metadata":{"model":"a"},"model":"b"}'],
])("keeps the other bytes of %s", (json, expected) => {
  expect(replaced(json, { model: '"b"' })).toBe(expected);
});

test.each([
  '{"model":"a","model":"b"}',
  '{"model":"a","mod\\u0065l":"b"}',
  '{"messages":[{"content":"harmless","content":"harmful"}]}',
  "[1]",
  '"text"',
  '\uFEFF{"model":"a"}',
])("has no source for %s, which others may read differently", (json) => {
  expect(parsed(json).source).toBeUndefined();
});

test("returns the bytes of a large body from its thread", async () => {
  const json = JSON.stringify({ model: "a", text: "é".repeat(1_000_000) });
  const result = await parseLargeJson(Buffer.from(json), LIMITS);
  expect(result).toMatchObject({ value: { model: "a" } });
  const source = "source" in result ? result.source : undefined;
  expect(Buffer.concat(replaceMembers(source as JsonSource, { model: '"b"' })).toString()).toBe(
    json.replace('"a"', '"b"'),
  );
});
