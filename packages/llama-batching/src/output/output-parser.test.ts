import { describe, expect, test } from "vitest";
import type { ReasoningTags } from "../prompts/reasoning-tags.ts";
import { OutputParser, type OutputPart, type OutputSyntax } from "./output-parser.ts";
import { CALL_ID, type ToolCallFormat } from "./tool-call-format.ts";

const think: ReasoningTags = { open: "<think>", close: "</think>", frame: [], beforeContent: "", beforeCall: "" };
const hermes: ToolCallFormat = {
  trigger: "<tool_call>",
  open: '\n{"name": "',
  afterName: '", "arguments": ',
  between: '}\n</tool_call>\n<tool_call>\n{"name": "',
  close: "}\n</tool_call>",
};
const names = ["get", "get_weather"];
const plain: OutputSyntax = { start: "content", isReasoningDone: false, reasoning: undefined, calls: undefined };

/** Parses all pieces and joins consecutive parts of one kind. */
function read(shape: OutputSyntax, pieces: readonly string[]): OutputPart[] {
  const parts = new OutputParser(shape);
  const all: OutputPart[] = [];
  for (const piece of pieces) {
    for (let text: string | undefined = piece; text !== undefined; ) {
      const { parts: found, transition } = parts.push(text);
      all.push(...found);
      text = transition?.rest;
    }
  }
  return joined([...all, ...parts.end()]);
}

function joined(parts: readonly OutputPart[]): OutputPart[] {
  const joined: OutputPart[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (last === undefined || last.type !== part.type || last.type === "call" || part.type === "call") {
      joined.push({ ...part });
    } else {
      last.text += part.text;
    }
  }
  return joined;
}

const CASES: Record<string, { shape: OutputSyntax; text: string; parts: OutputPart[] }> = {
  "plain text": {
    shape: plain,
    text: " <think> is \n<tool_call> not a trigger here ",
    parts: [{ type: "text", text: " <think> is \n<tool_call> not a trigger here " }],
  },
  "a call as JSON in a code block": {
    shape: { ...plain, calls: { format: hermes, names, recognizesJson: true } },
    text: '```json\n{\n  "name": "get_weather",\n  "arguments": {"city": "Rome"}\n}\n```',
    parts: [
      { type: "call", name: "get_weather" },
      { type: "arguments", text: ' {"city": "Rome"}' },
    ],
  },
  "a call as plain JSON": {
    shape: { ...plain, calls: { format: hermes, names, recognizesJson: true } },
    text: ' {"name":"get","parameters":{}}',
    parts: [
      { type: "call", name: "get" },
      { type: "arguments", text: "{}" },
    ],
  },
  "JSON that names no tool": {
    shape: { ...plain, calls: { format: hermes, names, recognizesJson: true } },
    text: '```json\n{"name": "get_", "arguments": 1}\n```',
    parts: [{ type: "text", text: '```json\n{"name": "get_", "arguments": 1}\n```' }],
  },
  "code while JSON calls are recognized": {
    shape: { ...plain, calls: { format: hermes, names, recognizesJson: true } },
    text: "```js\n{}\n```",
    parts: [{ type: "text", text: "```js\n{}\n```" }],
  },
  "reasoning that the model opens": {
    shape: { ...plain, reasoning: think },
    text: "\n<think>\nHm, 2 < 3.\n\nYes.\n</think>\n\nYes </think> it is.\n",
    parts: [
      { type: "reasoning", text: "Hm, 2 < 3.\n\nYes." },
      { type: "text", text: "Yes </think> it is.\n" },
    ],
  },
  "reasoning that the prompt opened": {
    shape: { ...plain, start: "reasoning", reasoning: think },
    text: "Hm.\n</think>\n\nYes.",
    parts: [
      { type: "reasoning", text: "Hm." },
      { type: "text", text: "Yes." },
    ],
  },
  "unclosed reasoning": {
    shape: { ...plain, start: "reasoning", reasoning: think },
    text: "Hm.</thi",
    parts: [{ type: "reasoning", text: "Hm.</thi" }],
  },
  "content without reasoning": {
    shape: { ...plain, reasoning: think },
    text: " <thin air is not a trigger, nor is a later <think>",
    parts: [{ type: "text", text: " <thin air is not a trigger, nor is a later <think>" }],
  },
  "reasoning that the prompt closed": {
    shape: { ...plain, isReasoningDone: true, reasoning: think },
    text: "\n\nYes.",
    parts: [{ type: "text", text: "Yes." }],
  },
  "framed content": {
    shape: {
      ...plain,
      reasoning: { ...think, open: "<a>", close: "</a>", frame: ["<start>assistant", "<final>"] },
    },
    text: "<a>Hm.</a><start>assistant<final>Yes.",
    parts: [
      { type: "reasoning", text: "Hm." },
      { type: "text", text: "Yes." },
    ],
  },
  "two calls after reasoning and text": {
    shape: { ...plain, reasoning: think, calls: { format: hermes, names } },
    text:
      "<think>Both.</think>I look.\n\n" +
      '<tool_call>\n{"name": "get_weather", "arguments": {"city": "P}{\\"aris", "days": [{"n": 1}]}}\n</tool_call>\n' +
      '<tool_call>\n{"name": "get", "arguments": {}}\n</tool_call>',
    parts: [
      { type: "reasoning", text: "Both." },
      { type: "text", text: "I look." },
      { type: "call", name: "get_weather" },
      { type: "arguments", text: '{"city": "P}{\\"aris", "days": [{"n": 1}]}' },
      { type: "call", name: "get" },
      { type: "arguments", text: "{}" },
    ],
  },
  "calls without text between name and arguments": {
    shape: {
      ...plain,
      calls: { format: { trigger: "[CALL]", open: "", afterName: "", between: "[CALL]", close: "" }, names },
    },
    text: '[CALL]get_weather{"city": "Paris"}[CALL]get{}',
    parts: [
      { type: "call", name: "get_weather" },
      { type: "arguments", text: '{"city": "Paris"}' },
      { type: "call", name: "get" },
      { type: "arguments", text: "{}" },
    ],
  },
  "a call whose trigger the prompt held": {
    shape: { ...plain, start: "call", calls: { format: hermes, names } },
    text: '\n{"name": "get", "arguments": {"a": "<tool_call>"}}\n</tool_call>',
    parts: [
      { type: "call", name: "get" },
      { type: "arguments", text: '{"a": "<tool_call>"}' },
    ],
  },
  "a call with an id": {
    shape: {
      ...plain,
      calls: {
        names,
        format: {
          trigger: "[TOOL_CALLS]",
          open: '[{"name": "',
          afterName: '", "arguments": ',
          between: `, "id": "${CALL_ID}"}, {"name": "`,
          close: `, "id": "${CALL_ID}"}]`,
        },
      },
    },
    text: '[TOOL_CALLS][{"name": "get", "arguments": {}, "id": "abcdef123"}, {"name": "get", "arguments": {}, "id": "abcdef456"}]',
    parts: [
      { type: "call", name: "get" },
      { type: "arguments", text: "{}" },
      { type: "call", name: "get" },
      { type: "arguments", text: "{}" },
    ],
  },
  "a plain JSON call at the beginning": {
    shape: {
      ...plain,
      calls: {
        names,
        format: { trigger: "{", open: '"name": "', afterName: '", "parameters": ', between: undefined, close: "}" },
      },
    },
    text: ' {"name": "get", "parameters": {"a": {}}}',
    parts: [
      { type: "call", name: "get" },
      { type: "arguments", text: '{"a": {}}' },
    ],
  },
  "JSON inside of text": {
    shape: {
      ...plain,
      calls: {
        names,
        format: { trigger: "{", open: '"name": "', afterName: '", "parameters": ', between: undefined, close: "}" },
      },
    },
    text: 'So: {"name": "get", "parameters": {}}',
    parts: [{ type: "text", text: 'So: {"name": "get", "parameters": {}}' }],
  },
};

describe.each(Object.entries(CASES))("parses %s", (_name, { shape, text, parts }) => {
  test("in one piece", () => expect(read(shape, [text])).toEqual(parts));
  test("one character at a time", () => expect(read(shape, [...text])).toEqual(parts));
  test("split at any position", () => {
    for (let at = 1; at < text.length; at++) {
      expect(read(shape, [text.slice(0, at), text.slice(at)])).toEqual(parts);
    }
  });
});

test("is complete after a call that was written as JSON", () => {
  const parser = new OutputParser({ ...plain, calls: { format: hermes, names, recognizesJson: true } });
  parser.push('{"name": "get", "arguments": ');
  parser.push('{"city": "Ro');
  expect(parser.isComplete).toBe(false);
  parser.push('me"}');
  expect(parser.isComplete).toBe(true);
});

test("holds back only what may become a trigger", () => {
  const parts = new OutputParser({ ...plain, calls: { format: hermes, names } });
  expect(parts.push("Hello <tool").parts).toEqual([{ type: "text", text: "Hello" }]);
  expect(parts.push("box> you").parts).toEqual([{ type: "text", text: " <toolbox> you" }]);
});
