import { describe, expect, test } from "vitest";
import { type AnswerPart, AnswerParts, type AnswerShape } from "./answer-parts.ts";
import type { ReasoningMarks } from "./reasoning-marks.ts";
import { CALL_ID, type ToolCallFormat } from "./tool-call-format.ts";

const think: ReasoningMarks = { open: "<think>", close: "</think>", frame: [], beforeAnswer: "", beforeCall: "" };
const hermes: ToolCallFormat = {
  mark: "<tool_call>",
  open: '\n{"name": "',
  afterName: '", "arguments": ',
  between: '}\n</tool_call>\n<tool_call>\n{"name": "',
  close: "}\n</tool_call>",
};
const names = ["get", "get_weather"];
const plain: AnswerShape = { start: "content", hasThought: false, reasoning: undefined, calls: undefined };

/** Pieces of one kind that follow each other, put together. */
function read(shape: AnswerShape, pieces: readonly string[]): AnswerPart[] {
  const parts = new AnswerParts(shape);
  const all: AnswerPart[] = [];
  for (const piece of pieces) {
    for (let text: string | undefined = piece; text !== undefined; ) {
      const { parts: found, entered } = parts.push(text);
      all.push(...found);
      text = entered?.rest;
    }
  }
  return joined([...all, ...parts.end()]);
}

function joined(parts: readonly AnswerPart[]): AnswerPart[] {
  const whole: AnswerPart[] = [];
  for (const part of parts) {
    const last = whole.at(-1);
    if (last === undefined || last.type !== part.type || last.type === "call" || part.type === "call") {
      whole.push({ ...part });
    } else {
      last.text += part.text;
    }
  }
  return whole;
}

const CASES: Record<string, { shape: AnswerShape; text: string; parts: AnswerPart[] }> = {
  "plain text, as it is": {
    shape: plain,
    text: " <think> is \n<tool_call> not a mark here ",
    parts: [{ type: "text", text: " <think> is \n<tool_call> not a mark here " }],
  },
  "thoughts that the model begins itself": {
    shape: { ...plain, reasoning: think },
    text: "\n<think>\nHm, 2 < 3.\n\nYes.\n</think>\n\nYes </think> it is.\n",
    parts: [
      { type: "reasoning", text: "Hm, 2 < 3.\n\nYes." },
      { type: "text", text: "Yes </think> it is.\n" },
    ],
  },
  "thoughts that the prompt began": {
    shape: { ...plain, start: "reasoning", reasoning: think },
    text: "Hm.\n</think>\n\nYes.",
    parts: [
      { type: "reasoning", text: "Hm." },
      { type: "text", text: "Yes." },
    ],
  },
  "thoughts without an end": {
    shape: { ...plain, start: "reasoning", reasoning: think },
    text: "Hm.</thi",
    parts: [{ type: "reasoning", text: "Hm.</thi" }],
  },
  "an answer without thoughts": {
    shape: { ...plain, reasoning: think },
    text: " <thin air is not a mark, nor is a later <think>",
    parts: [{ type: "text", text: " <thin air is not a mark, nor is a later <think>" }],
  },
  "thoughts that are over in the prompt": {
    shape: { ...plain, hasThought: true, reasoning: think },
    text: "\n\nYes.",
    parts: [{ type: "text", text: "Yes." }],
  },
  "an answer in a frame": {
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
  "two calls after a text and thoughts": {
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
  "calls whose arguments follow the name at once": {
    shape: {
      ...plain,
      calls: { format: { mark: "[CALL]", open: "", afterName: "", between: "[CALL]", close: "" }, names },
    },
    text: '[CALL]get_weather{"city": "Paris"}[CALL]get{}',
    parts: [
      { type: "call", name: "get_weather" },
      { type: "arguments", text: '{"city": "Paris"}' },
      { type: "call", name: "get" },
      { type: "arguments", text: "{}" },
    ],
  },
  "a call whose mark the prompt held": {
    shape: { ...plain, start: "call", calls: { format: hermes, names } },
    text: '\n{"name": "get", "arguments": {"a": "<tool_call>"}}\n</tool_call>',
    parts: [
      { type: "call", name: "get" },
      { type: "arguments", text: '{"a": "<tool_call>"}' },
    ],
  },
  "a call with an id of the model's": {
    shape: {
      ...plain,
      calls: {
        names,
        format: {
          mark: "[TOOL_CALLS]",
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
  "a call that looks like JSON, where an answer begins": {
    shape: {
      ...plain,
      calls: {
        names,
        format: { mark: "{", open: '"name": "', afterName: '", "parameters": ', between: undefined, close: "}" },
      },
    },
    text: ' {"name": "get", "parameters": {"a": {}}}',
    parts: [
      { type: "call", name: "get" },
      { type: "arguments", text: '{"a": {}}' },
    ],
  },
  "JSON within a text, which is no call": {
    shape: {
      ...plain,
      calls: {
        names,
        format: { mark: "{", open: '"name": "', afterName: '", "parameters": ', between: undefined, close: "}" },
      },
    },
    text: 'So: {"name": "get", "parameters": {}}',
    parts: [{ type: "text", text: 'So: {"name": "get", "parameters": {}}' }],
  },
};

describe.each(Object.entries(CASES))("tells apart %s", (_name, { shape, text, parts }) => {
  test("in one piece", () => expect(read(shape, [text])).toEqual(parts));
  test("one character at a time", () => expect(read(shape, [...text])).toEqual(parts));
  test("cut anywhere", () => {
    for (let at = 1; at < text.length; at++) {
      expect(read(shape, [text.slice(0, at), text.slice(at)])).toEqual(parts);
    }
  });
});

test("keeps back no more than what may become a mark", () => {
  const parts = new AnswerParts({ ...plain, calls: { format: hermes, names } });
  expect(parts.push("Hello <tool").parts).toEqual([{ type: "text", text: "Hello" }]);
  expect(parts.push("box> you").parts).toEqual([{ type: "text", text: " <toolbox> you" }]);
});
