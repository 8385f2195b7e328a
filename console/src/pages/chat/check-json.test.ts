import { expect, test } from "vitest";
import { checkJson, checkOther, checkSchema, checkTools } from "./check-json.ts";

test("names the line of a syntax error", () => {
  expect(checkJson('{\n  "a": 1,\n}').problem).toBe("Line 3: this is not valid JSON.");
  expect(checkJson("  ")).toEqual({ value: undefined });
});

test.each([
  ['["a"]', "A JSON Schema is an object."],
  ['{"type": "strnig"}', 'type: "strnig" is not a type of JSON Schema.'],
  [
    '{"properties": {"a": {"items": {"type": ["null", "int"]}}}}',
    'properties.a.items.type: "int" is not a type of JSON Schema.',
  ],
  ['{"properties": ["a"]}', "properties must be an object of schemas."],
  ['{"properties": {"a": "string"}}', "properties.a must be a schema: an object, true or false."],
  ['{"anyOf": [{"type": "string"}, {"required": "a"}]}', "anyOf[1].required must be an array of names."],
])("finds what is wrong in the schema %s", (text, problem) => {
  expect(checkSchema(text).problem).toBe(problem);
});

test("accepts a schema with nested definitions", () => {
  const schema = {
    type: "object",
    properties: { a: { $ref: "#/$defs/a" }, b: true },
    $defs: { a: { enum: [1, null] } },
  };
  expect(checkSchema(JSON.stringify(schema))).toEqual({ value: schema });
});

test.each([
  ["{}", "Tools are an array."],
  ['[{"type": "web_search"}]', '[0]: type must be "function".'],
  ['[{"type": "function", "function": {"name": "a b"}}]', "[0].function.name must be 1 to 64 letters, digits, - or _."],
  [
    '[{"type": "function", "function": {"name": "a", "parameters": {"type": "map"}}}]',
    '[0].function.parameters.type: "map" is not a type of JSON Schema.',
  ],
])("finds what is wrong in the tools %s", (text, problem) => {
  expect(checkTools(text).problem).toBe(problem);
});

test("refuses extra fields that have fields of their own", () => {
  const taken = new Set(["temperature"]);
  expect(checkOther('{"temperature": 1}', taken).problem).toBe("Set temperature above.");
  expect(checkOther('{"logprobs": true}', taken)).toEqual({ value: { logprobs: true } });
  expect(checkOther("[]", taken).problem).toBe("Extra request fields must be a JSON object.");
});
