import { expect, test } from "vitest";
import { framesOf } from "../../../test/support/service/read-answer.ts";
import type { AnswerText } from "../../contracts/answer-text.ts";
import type { ChatEvent } from "../../contracts/chat-model.ts";
import type { ForwardedEvent } from "../../contracts/chat-proxy.ts";
import type { ModerationVerdict } from "../../contracts/moderation-model.ts";
import { MODERATION_QWEN } from "../../model-store/manifest/moderation-qwen.ts";
import { chatAnswerText } from "../../wire/openai/chat/chat-answer-text.ts";
import { blockOutput, scoreOutput } from "./moderate-output.ts";
import { typedText } from "./typed-text.ts";

const usage = { promptTokens: 3, completionTokens: 9, cachedTokens: 0, reasoningTokens: 0, estimated: false };

/** Flags texts that contain the word. */
async function flag(texts: readonly string[]): Promise<ModerationVerdict> {
  const isBad = texts.some((text) => text.includes("BAD"));
  return { scores: { hate: isBad ? 0.9 : 0.1 }, flags: { hate: isBad }, appliedTo: { hate: ["text"] } };
}

async function* said(...texts: string[]): AsyncGenerator<ChatEvent, void> {
  yield { type: "start", promptTokens: 3, cachedTokens: 0 };
  for (const [index, text] of texts.entries()) yield { type: "text", choice: 0, text, completionTokens: index + 1 };
  yield { type: "finish", usage };
}

const frame = (content: string) =>
  new TextEncoder().encode(`data: ${JSON.stringify({ id: "x1", choices: [{ index: 0, delta: { content } }] })}\n\n`);

async function* framed(...texts: string[]): AsyncGenerator<ForwardedEvent, void> {
  for (const [index, text] of texts.entries()) {
    yield { type: "frames", frames: frame(text), completionTokens: index + 1 };
  }
  yield { type: "finish", usage };
}

const completionOf = (fields: Record<string, unknown>) => ({ fields, json: JSON.stringify(fields) });

type Mode = "score" | "block";

async function moderatedAs<Event extends ChatEvent | ForwardedEvent>(
  answerText: AnswerText<Event>,
  events: AsyncIterable<Event>,
  mode: Mode,
  choices: number,
) {
  const taken: ModerationVerdict[] = [];
  const take = (verdict: ModerationVerdict) => void taken.push(verdict);
  const moderate = mode === "block" ? blockOutput<Event> : scoreOutput<Event, ModerationVerdict>;
  const made = await Array.fromAsync(
    moderate(events, { answerText, moderate: flag, take, choices, onBlocked: () => usage }),
  );
  const text = made.map((event) => {
    if (event.type === "text") return event.text;
    if (event.type !== "frames") return "";
    return chatAnswerText
      .textsOf(event)
      .map((delta) => delta.text)
      .join("");
  });
  return { made, text: text.join(""), verdict: taken.at(-1) };
}

const moderated = (events: AsyncIterable<ChatEvent>, mode: Mode, choices = 1) =>
  moderatedAs(typedText, events, mode, choices);
const moderatedFrames = (events: AsyncIterable<ForwardedEvent>, mode: Mode, choices = 1) =>
  moderatedAs(chatAnswerText, events, mode, choices);

test("forwards a harmless answer completely, with its finish", async () => {
  const texts = Array.from({ length: 100 }, (_, index) => `word${index} `);
  const { made, text, verdict } = await moderated(said(...texts), "block");
  expect(text).toBe(texts.join(""));
  expect(made.at(-1)).toEqual({ type: "finish", usage });
  expect(verdict?.flags.hate).toBe(false);
});

test("moderates a long answer in parts that a guard is asked about, each with what is before it", async () => {
  const lengths: number[] = [];
  const moderate = (texts: readonly string[]) => {
    lengths.push(...texts.map((text) => text.length));
    return flag(texts);
  };
  const events = said(...Array.from({ length: 1000 }, () => "word "));
  const options = { answerText: typedText, moderate, take: () => {}, choices: 1, onBlocked: () => usage };
  await Array.fromAsync(blockOutput(events, options));
  expect(Math.max(...lengths)).toBeLessThan(Number(MODERATION_QWEN.engineSettings.guard_max_characters));
  expect(lengths.slice(3).every((length) => length > 700)).toBe(true);
});

test("ends a harmful answer before sending the flagged text, and stops the model", async () => {
  let isStopped = false;
  async function* endless(): AsyncGenerator<ChatEvent, void> {
    try {
      yield* said("good ".repeat(100), "BAD words", "more ".repeat(100));
    } finally {
      isStopped = true;
    }
  }
  const { made, text, verdict } = await moderated(endless(), "block");
  expect(text).toBe("good ".repeat(100));
  expect(made.at(-2)).toMatchObject({ type: "choice-end", reason: "content_filter" });
  expect(made.at(-1)).toMatchObject({ type: "finish", usage: { promptTokens: 3 } });
  expect(verdict?.flags.hate).toBe(true);
  expect(isStopped).toBe(true);
});

test("flags harm that spans pieces and text already sent", async () => {
  const { text } = await moderated(said("good ".repeat(60), "B", "A", "D"), "block");
  expect(text).not.toContain("BAD");
  const { verdict } = await moderated(said(`${"x".repeat(238)}BA`, "D".padEnd(300)), "block");
  expect(verdict?.flags.hate).toBe(true);
});

test("only reports scores with the action score", async () => {
  const { text, made, verdict } = await moderated(said("BAD words"), "score");
  expect(text).toBe("BAD words");
  expect(made.at(-1)).toMatchObject({ type: "finish" });
  expect(verdict?.scores.hate).toBe(0.9);
});

test("ends an upstream's stream in its own frames", async () => {
  const { made, text } = await moderatedFrames(framed("good ".repeat(60), "BAD"), "block");
  expect(text).toBe("good ".repeat(60));
  const last = made.findLast((event) => event.type === "frames");
  const [end] = framesOf(last?.type === "frames" ? last.frames : new Uint8Array());
  expect(end).toMatchObject({
    id: "x1",
    choices: [{ index: 0, delta: {}, finish_reason: "content_filter" }],
  });
});

test.each<[what: string, deltas: object[]]>([
  [
    "reasoning that comes under two names",
    ["B", "A", "D"].map((text) => ({ reasoning: text, reasoning_content: text })),
  ],
  [
    "calls of tools that come side by side",
    ["B", "A", "D"].map((text) => ({
      tool_calls: [0, 1].map((index) => ({ index, function: { arguments: text } })),
    })),
  ],
  ["arguments that are an object", [{ tool_calls: [{ index: 0, function: { arguments: { name: "BAD" } } }] }]],
  ["parts", [{ content: [{ type: "thinking", thinking: [{ type: "text", text: "BAD" }] }] }]],
  ["a field of the upstream's own", [{ reasoning_details: [{ type: "reasoning.text", text: "BAD" }] }]],
])("moderates %s of an upstream", async (_what, deltas) => {
  const encoder = new TextEncoder();
  async function* events(): AsyncGenerator<ForwardedEvent, void> {
    for (const delta of deltas) {
      const frames = encoder.encode(`data: ${JSON.stringify({ id: "x4", choices: [{ index: 0, delta }] })}\n\n`);
      yield { type: "frames", frames, completionTokens: 1 };
    }
    yield { type: "finish", usage };
  }
  const { verdict } = await moderatedFrames(events(), "block");
  expect(verdict?.flags.hate).toBe(true);
});

test("leaves only the usage of a blocked complete answer", async () => {
  async function* completeAnswer(): AsyncGenerator<ForwardedEvent, void> {
    const message = { role: "assistant", content: "BAD ".repeat(100), reasoning: "BAD" };
    const choices = [{ index: 0, message, token_ids: [66, 65, 68], finish_reason: "stop" }];
    yield { type: "finish", usage, completion: completionOf({ id: "x5", choices }) };
  }
  const { made } = await moderatedFrames(completeAnswer(), "block");
  expect(JSON.stringify(made)).not.toMatch(/BAD|token_ids/);
  expect(made).toMatchObject([{ type: "finish", usage, completion: { fields: { id: "x5" } } }]);
});

test("removes the text from an upstream's complete answer", async () => {
  async function* completeAnswer(): AsyncGenerator<ForwardedEvent, void> {
    const completion = { id: "x2", choices: [{ index: 0, message: { content: "BAD" }, finish_reason: "stop" }] };
    yield { type: "finish", usage, completion: completionOf(completion) };
  }
  const { made } = await moderatedFrames(completeAnswer(), "block");
  expect(made[0]).toMatchObject({
    completion: {
      fields: { id: "x2", choices: [{ message: { content: "" }, finish_reason: "content_filter" }] },
    },
  });
});

test.each<[what: string, event: ChatEvent]>([
  ["what a model thinks", { type: "reasoning", choice: 0, text: "BAD", completionTokens: 1 }],
  ["what it hands to a tool", { type: "tool-arguments", choice: 0, index: 0, text: "BAD", completionTokens: 1 }],
])("also moderates %s", async (_what, event) => {
  async function* events(): AsyncGenerator<ChatEvent, void> {
    yield event;
    yield { type: "finish", usage };
  }
  const { made, verdict } = await moderated(events(), "block");
  expect(made.map(({ type }) => type)).toEqual(["choice-end", "finish"]);
  expect(verdict?.flags.hate).toBe(true);
});

test("moderates each choice separately, and ends all open choices when one is flagged", async () => {
  async function* three(): AsyncGenerator<ChatEvent, void> {
    for (const [choice, text] of [["B"], ["A"], ["D"]].entries()) {
      yield { type: "text", choice, text: text[0] ?? "", completionTokens: choice };
    }
    yield { type: "text", choice: 1, text: "good ".repeat(60), completionTokens: 4 };
    yield { type: "choice-end", choice: 1, reason: "stop" };
    yield { type: "text", choice: 2, text: "good ".repeat(60), completionTokens: 5 };
    yield { type: "text", choice: 0, text: "AD", completionTokens: 6 };
    yield { type: "finish", usage };
  }
  const { made } = await moderated(three(), "block", 3);
  const ends = made.filter((event) => event.type === "choice-end");
  expect(ends.map(({ choice, reason }) => [choice, reason])).toEqual([
    [1, "stop"],
    [0, "content_filter"],
    [2, "content_filter"],
  ]);
});

test("ends the open choices of an upstream's stream", async () => {
  const frames = (choices: object[]) => new TextEncoder().encode(`data: ${JSON.stringify({ id: "x3", choices })}\n\n`);
  async function* two(): AsyncGenerator<ForwardedEvent, void> {
    const long = { delta: { content: "good ".repeat(60) } };
    yield { type: "frames", frames: frames([{ index: 0, ...long, finish_reason: "stop" }]), completionTokens: 1 };
    yield { type: "frames", frames: frames([{ index: 1, delta: { content: "BAD" } }]), completionTokens: 2 };
    yield { type: "finish", usage };
  }
  const { made } = await moderatedFrames(two(), "block", 2);
  const last = made.findLast((event) => event.type === "frames");
  const [end] = framesOf(last?.type === "frames" ? last.frames : new Uint8Array());
  expect(end?.choices).toMatchObject([{ index: 1, finish_reason: "content_filter" }]);
});
