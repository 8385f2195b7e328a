import { expect, test } from "vitest";
import {
  DEEPSEEK,
  HERMES,
  LLAMA_3,
  MISTRAL_NEMO,
  MISTRAL_SMALL,
  QWEN_CODER,
} from "../../../test/support/chat-templates.ts";
import { ChatTemplate } from "./chat-template.ts";
import { CALL_ID, toolCallFormatOf } from "./tool-call-format.ts";

const END_TEXTS = ["<|im_end|>", "<|eot_id|>", "</s>", "<|call|>"];
const formatOf = (source: string | undefined, endTexts = END_TEXTS) =>
  toolCallFormatOf(new ChatTemplate(source, { bos_token: "<s>", eos_token: "</s>" }), endTexts, undefined);

test.each([
  [
    "a mark around JSON",
    HERMES,
    {
      mark: "<tool_call>",
      open: '\n{"name": "',
      afterName: '", "arguments": ',
      between: '}\n</tool_call>\n<tool_call>\n{"name": "',
      close: "}\n</tool_call>",
    },
  ],
  [
    "JSON without a mark, one call only",
    LLAMA_3,
    { mark: "{", open: '"name": "', afterName: '", "parameters": ', between: undefined, close: "}" },
  ],
  [
    "a list with ids",
    MISTRAL_NEMO,
    {
      mark: "[TOOL_CALLS]",
      open: '[{"name": "',
      afterName: '", "arguments": ',
      between: `, "id": "${CALL_ID}"}, {"name": "`,
      close: `, "id": "${CALL_ID}"}]`,
    },
  ],
  [
    "names before marks",
    MISTRAL_SMALL,
    { mark: "[TOOL_CALLS]", open: "", afterName: "[ARGS]", between: "[TOOL_CALLS]", close: "" },
  ],
  [
    "arguments given as text",
    DEEPSEEK,
    {
      mark: "<｜tool▁calls▁begin｜>",
      open: "<｜tool▁call▁begin｜>function<｜tool▁sep｜>",
      afterName: "\n```json\n",
      between: "\n```<｜tool▁call▁end｜>\n<｜tool▁call▁begin｜>function<｜tool▁sep｜>",
      close: "\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
    },
  ],
])("finds out %s", (_name, source, format) => {
  expect(formatOf(source)).toEqual(format);
});

test.each([
  ["shows no tools", undefined],
  ["writes arguments in a notation of its own", QWEN_CODER],
  [
    "shows tools but no calls",
    "{% if tools %}{{ tools | tojson }}{% endif %}{{ messages[0].content }}{{ messages[1].content }}",
  ],
])("finds none in a template that %s", (_name, source) => {
  expect(formatOf(source)).toBeUndefined();
});

test("leaves what ends an answer out of a call, be it shared with other answers or not", () => {
  const source = (end: string) =>
    `{{ tools }}{% for message in messages %}<{{ message.role }}|>{% if message.tool_calls %}to={{ message.tool_calls[0].function.name }}:{{ message.tool_calls[0].function.arguments | tojson }}${end}{% else %}{{ message.content }}<|return|>{% endif %}{% endfor %}`;
  expect(formatOf(source("<|call|>"))?.close).toBe("");
  expect(formatOf(source("<|return|>"))?.close).toBe("");
  // Its end is shared with the answer's own, yet it is a mark of its own that ends no answer.
  expect(formatOf(source("<|done|>"))?.close).toBe("<|done|>");
});
