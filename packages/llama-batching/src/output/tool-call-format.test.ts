import { expect, test } from "vitest";
import {
  DEEPSEEK,
  DEEPSEEK_3_1,
  DEEPSEEK_MARKUP,
  GEMMA_4,
  GLM,
  HERMES,
  KIMI_K2,
  LFM2,
  LFM2_5,
  LLAMA_3,
  MISTRAL_NEMO,
  MISTRAL_SMALL,
  QWEN_CODER,
} from "../../test/chat-templates.ts";
import { ChatTemplate } from "../prompts/chat-template.ts";
import { CALL_ID, CALL_INDEX, detectToolCallFormat } from "./tool-call-format.ts";

const END_TEXTS = ["<|im_end|>", "<|eot_id|>", "</s>", "<|call|>"];
const formatOf = (source: string | undefined, endTexts = END_TEXTS) =>
  detectToolCallFormat(new ChatTemplate(source, { bos_token: "<s>", eos_token: "</s>" }), endTexts, undefined);

const PYTHON_CALLS = {
  trigger: "<|tool_call_start|>",
  open: "[",
  afterName: "(",
  between: "), ",
  close: ")]<|tool_call_end|>",
  tagged: { before: "", text: undefined, other: { afterName: "=", after: "" }, between: ", " },
};

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
  [
    "arguments in tags that have their names",
    QWEN_CODER,
    {
      trigger: "<tool_call>",
      open: "\n<function=",
      afterName: "",
      between: ">\n</function>\n</tool_call>\n<tool_call>\n<function=",
      close: ">\n</function>\n</tool_call>",
      tagged: {
        before: ">\n<parameter=",
        text: { afterName: ">\n", after: "\n</parameter" },
        other: { afterName: ">\n", after: "\n</parameter" },
        between: "",
      },
    },
  ],
  [
    "arguments in tags beside their names",
    GLM,
    {
      trigger: "<tool_call>",
      open: "",
      afterName: "",
      between: "</tool_call><tool_call>",
      close: "</tool_call>",
      tagged: {
        before: "<arg_key>",
        text: { afterName: "</arg_key><arg_value>", after: "</arg_value>" },
        other: { afterName: "</arg_key><arg_value>", after: "</arg_value>" },
        between: "",
      },
    },
  ],
  [
    "other tags for texts than for numbers",
    DEEPSEEK_MARKUP,
    {
      trigger: "<calls>",
      open: '\n<call name="',
      afterName: '"',
      between: '>\n</call>\n<call name="',
      close: ">\n</call>\n</calls>",
      tagged: {
        before: '>\n<parameter name="',
        text: { afterName: '" string="true">', after: "</parameter" },
        other: { afterName: '" string="false">', after: "</parameter" },
        between: "",
      },
    },
  ],
  [
    "texts between tags and numbers without",
    GEMMA_4,
    {
      trigger: "<|tool_call>",
      open: "call:",
      afterName: "{",
      between: "}<tool_call|><|tool_call>call:",
      close: "}<tool_call|>",
      tagged: {
        before: "",
        text: { afterName: ':<|"|>', after: '<|"|>' },
        other: { afterName: ":", after: "" },
        between: ",",
      },
    },
  ],
  ["calls as in Python", LFM2_5, PYTHON_CALLS],
  ["calls of LFM2, whose template shows none", LFM2, PYTHON_CALLS],
  [
    "calls of DeepSeek 3.1, whose template shows no tools",
    DEEPSEEK_3_1,
    {
      trigger: "<｜tool▁calls▁begin｜>",
      open: "<｜tool▁call▁begin｜>",
      afterName: "<｜tool▁sep｜>",
      between: "<｜tool▁call▁end｜><｜tool▁call▁begin｜>",
      close: "<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
    },
  ],
  [
    "calls with indexes",
    KIMI_K2,
    {
      trigger: "<|tool_calls_section_begin|>",
      open: "<|tool_call_begin|>functions.",
      afterName: `:${CALL_INDEX}<|tool_call_argument_begin|>`,
      between: "<|tool_call_end|><|tool_call_begin|>functions.",
      close: "<|tool_call_end|><|tool_calls_section_end|>",
    },
  ],
])("detects %s", (_name, source, format) => {
  expect(formatOf(source)).toEqual(format);
});

test.each([
  ["has no place for tools", undefined],
  ["writes the name of an argument around its value", GLM.replaceAll("</arg_value>", "</{{ name }}>")],
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
