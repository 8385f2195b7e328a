import { expect, test } from "vitest";
import { findValue, removeValue, setValue } from "./json-text.ts";

const SET: [json: string, expected: string][] = [
  ['{"model":"x","n":1.0}', '{"model":"y","n":1.0}'],
  ['{ "model" : "x" }', '{ "model" : "y" }'],
  ['{"a":{"model":"inner"},"model":"x"}', '{"a":{"model":"inner"},"model":"y"}'],
  ['{"a":[{"model":"inner"}],"model":null}', '{"a":[{"model":"inner"}],"model":"y"}'],
  ['{"a":"\\"model\\":\\"x\\"","model":"x"}', '{"a":"\\"model\\":\\"x\\"","model":"y"}'],
  ['{"a":"model","model":"x\\\\"}', '{"a":"model","model":"y"}'],
  ['{"model":{"id":["x"]},"b":2}', '{"model":"y","b":2}'],
  ['{"id":12345678901234567890}', '{"model":"y","id":12345678901234567890}'],
  ["{}", '{"model":"y"}'],
];

test.each(SET)("sets the outermost model of %s", (json, expected) => {
  expect(setValue(json, "model", '"y"')).toBe(expected);
});

test("finds the range of a value", () => {
  const json = '{"a":1,"choices": [{"b":"]"}] ,"c":2}';
  const span = findValue(json, "choices");
  expect(json.slice(span?.start, span?.end)).toBe('[{"b":"]"}] ');
  expect(findValue(json, "b")).toBeUndefined();
});

test.each([
  ['{"a":1,"usage":null,"b":2}', '{"a":1,"b":2}'],
  ['{"usage": {"a": "}"} , "b":2}', '{"b":2}'],
  ['{"b":2 , "usage":3 }', '{"b":2 }'],
  ['{"usage":3}', "{}"],
  ['{"b":{"usage":3}}', '{"b":{"usage":3}}'],
])("removes a key from %s", (json, expected) => {
  expect(removeValue(json, "usage")).toBe(expected);
});
