import { expect, test, vi } from "vitest";
import { DEEPSEEK_3_1, DEEPSEEK_MARKUP, GEMMA_4, GLM, KIMI_K2, LFM2, QWEN_CODER } from "../../test/chat-templates.ts";
import { ChatTemplate } from "../prompts/chat-template.ts";
import { JsonDepth } from "./json-depth.ts";
import { type TaggedArguments, taggedParameters } from "./tagged-arguments.ts";
import { detectToolCallFormat, type ToolCallFormat } from "./tool-call-format.ts";
import { ToolCallParser } from "./tool-call-parser.ts";

const parameters = {
  type: "object",
  properties: {
    city: { type: "string", description: "A city" },
    code: { type: "string", pattern: "^[A-Z]+$" },
    days: { type: "integer" },
    options: { type: "object" },
  },
  required: ["city"],
};
const tools = [
  { name: "get", parameters: undefined },
  { name: "get_weather", parameters },
  { name: "nested", parameters: { type: "object", anyOf: [{ required: ["a"] }] } },
];
const first = { city: 'São "Paulo"\n</par\\ ☃ 🐉', code: "AB", days: 12, options: { a: ["}", "<", 1.5], b: null } };
const second = { city: "", days: -3 };

/** What the model writes after the trigger, without the text that ends its turn. */
function written(source: string): { format: ToolCallFormat; text: string } {
  const template = new ChatTemplate(source, { bos_token: "", eos_token: "" });
  const format = detectToolCallFormat(template, ["<|im_end|>"], undefined);
  if (format === undefined) throw new Error("No format was detected");
  const calls = [
    { id: "1", name: "get_weather", arguments: JSON.stringify(first) },
    { id: "2", name: "get", arguments: "{}" },
    { id: "3", name: "get_weather", arguments: JSON.stringify(second) },
  ];
  const messages = [
    { role: "user" as const, content: "Hi" },
    { role: "assistant" as const, content: "", toolCalls: calls },
  ];
  const rendered = template.render({ messages, tools: tools as never, forAnswer: false });
  // The template writes this text without quotation marks, and the model writes it as JSON, which its pattern needs.
  const quoted = rendered.replaceAll("AB", '"AB"').replaceAll('<|"|>"AB"<|"|>', '"AB"');
  if (source === LFM2 || source === KIMI_K2 || source === DEEPSEEK_3_1) {
    return { format, text: rendered.slice(rendered.lastIndexOf(format.trigger + format.open) + format.trigger.length) };
  }
  const marked = source === DEEPSEEK_MARKUP ? quoted.replace('"code" string="true"', '"code" string="false"') : quoted;
  return { format, text: marked.slice(marked.indexOf(format.trigger) + format.trigger.length) };
}

function parse(format: ToolCallFormat, pieces: Iterable<string>): Array<{ name: string; value: unknown }> {
  const parser = new ToolCallParser(format, tools);
  const calls: Array<{ name: string; text: string }> = [];
  for (const piece of pieces) {
    for (const part of parser.push(piece)) {
      if (part.type === "call") calls.push({ name: part.name, text: "" });
      else (calls.at(-1) as { text: string }).text += part.text;
    }
  }
  return calls.map(({ name, text }) => ({ name, value: JSON.parse(text) as unknown }));
}

test.each(Object.entries({ QWEN_CODER, GLM, DEEPSEEK_MARKUP, GEMMA_4, LFM2, KIMI_K2, DEEPSEEK_3_1 }))(
  "reads calls as %s writes them, at once and character by character",
  (_name, source) => {
    const { format, text } = written(source);
    const expected = [
      { name: "get_weather", value: first },
      { name: "get", value: {} },
      { name: "get_weather", value: second },
    ];
    expect(parse(format, [text])).toEqual(expected);
    expect(parse(format, text)).toEqual(expected);
  },
);

test("streams a text before its end", () => {
  const { format } = written(GLM);
  const parser = new ToolCallParser(format, tools);
  const texts = ["get_weather<arg_key>city</arg_key><arg_value>Par", "is</arg_", "valu", "es</arg_value></tool_call>"];
  expect(
    texts.map((text) => parser.push(text).flatMap((part) => (part.type === "call" ? part.name : part.text))),
  ).toEqual([["get_weather", '{"city": "Par'], ["is"], [], ['</arg_values"}']]);
});

test("reads a JSON object where arguments cannot be written one by one", () => {
  const { format } = written(GLM);
  expect(parse(format, ['nested{"a": {"b": "}"}}</tool_call>'])).toEqual([
    { name: "nested", value: { a: { b: "}" } } },
  ]);
});

test.each([
  ["references", { $defs: { a: {} }, properties: { b: { $ref: "#/$defs/a" } } }],
  ["alternatives", { anyOf: [{ required: ["a"] }] }],
  ["names that are open", { additionalProperties: { type: "string" } }],
  ["a required name without a schema", { properties: {}, required: ["a"] }],
  ["a schema that is true", { properties: { a: true } }],
])("does not write %s one by one", (_name, schema) => {
  expect(taggedParameters({ type: "object", ...schema }, { text: { afterName: "", after: "" } })).toBeUndefined();
});

test.each(Object.entries({ QWEN_CODER, GLM, GEMMA_4 }))(
  "streams a long JSON value of %s and reads each character of it once",
  (_name, source) => {
    const { format } = written(source);
    const parser = new ToolCallParser(format, tools);
    const value = JSON.stringify({ list: Array.from({ length: 2000 }, (_, index) => [index, '}"\\'] as const) });
    const { other, before } = format.tagged as TaggedArguments;
    parser.push(`${format.open}get_weather${format.afterName}${before}options${other.afterName}`);
    const reads = vi.spyOn(JsonDepth.prototype, "push");
    let text = "";
    let maxHeld = 0;
    for (const [index, character] of [...value].entries()) {
      for (const part of parser.push(character)) text += part.type === "arguments" ? part.text : "";
      maxHeld = Math.max(maxHeld, index + 1 - text.length);
    }
    const readCharacters = reads.mock.calls.length;
    reads.mockRestore();
    expect(readCharacters).toBe(value.length);
    expect(maxHeld).toBeLessThan(2);
    for (const part of parser.push(other.after + format.close)) text += part.type === "arguments" ? part.text : "";
    expect(text).toBe(`${value}}`);
  },
);
