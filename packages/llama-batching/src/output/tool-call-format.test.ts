import { expect, test } from "vitest";
import { DEEPSEEK, HERMES, LLAMA_3, MISTRAL_NEMO, MISTRAL_SMALL, QWEN_CODER } from "../../test/chat-templates.ts";
import { ChatTemplate } from "../prompts/chat-template.ts";
import { CALL_ID, detectToolCallFormat } from "./tool-call-format.ts";

const END_TEXTS = ["<|im_end|>", "<|eot_id|>", "</s>", "<|call|>"];
const formatOf = (source: string | undefined, endTexts = END_TEXTS) =>
  detectToolCallFormat(new ChatTemplate(source, { bos_token: "<s>", eos_token: "</s>" }), endTexts, undefined);

test.each([
  [
    "a trigger around JSON",
    HERMES,
    {
      trigger: "<tool_call>",
      open: '\n{"name": "',
      afterName: '", "arguments": ',
      between: '}\n</tool_call>\n<tool_call>\n{"name": "',
      close: "}\n</tool_call>",
    },
  ],
  [
    "JSON without a trigger, one call only",
    LLAMA_3,
    { trigger: "{", open: '"name": "', afterName: '", "parameters": ', between: undefined, close: "}" },
  ],
  [
    "a list with ids",
    MISTRAL_NEMO,
    {
      trigger: "[TOOL_CALLS]",
      open: '[{"name": "',
      afterName: '", "arguments": ',
      between: `, "id": "${CALL_ID}"}, {"name": "`,
      close: `, "id": "${CALL_ID}"}]`,
    },
  ],
  [
    "names before a tag",
    MISTRAL_SMALL,
    { trigger: "[TOOL_CALLS]", open: "", afterName: "[ARGS]", between: "[TOOL_CALLS]", close: "" },
  ],
  [
    "arguments as text",
    DEEPSEEK,
    {
      trigger: "<｜tool▁calls▁begin｜>",
      open: "<｜tool▁call▁begin｜>function<｜tool▁sep｜>",
      afterName: "\n```json\n",
      between: "\n```<｜tool▁call▁end｜>\n<｜tool▁call▁begin｜>function<｜tool▁sep｜>",
      close: "\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
    },
  ],
])("detects %s", (_name, source, format) => {
  expect(formatOf(source)).toEqual(format);
});

test.each([
  ["has no place for tools", undefined],
  ["writes arguments in another notation than JSON", QWEN_CODER],
  [
    "shows tools but no calls",
    "{% if tools %}{{ tools | tojson }}{% endif %}{{ messages[0].content }}{{ messages[1].content }}",
  ],
])("detects none in a template that %s", (_name, source) => {
  expect(formatOf(source)).toBeUndefined();
});

test("leaves the end of a turn out of a call", () => {
  const source = (end: string) =>
    `{{ tools }}{% for message in messages %}<{{ message.role }}|>{% if message.tool_calls %}to={{ message.tool_calls[0].function.name }}:{{ message.tool_calls[0].function.arguments | tojson }}${end}{% else %}{{ message.content }}<|return|>{% endif %}{% endfor %}`;
  expect(formatOf(source("<|call|>"))?.close).toBe("");
  expect(formatOf(source("<|return|>"))?.close).toBe("");
  // Shares a suffix with the end of the turn, but is a separate tag that does not end the answer.
  expect(formatOf(source("<|done|>"))?.close).toBe("<|done|>");
});
