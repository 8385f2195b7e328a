/** Renders answers of Cohere's POST /v2/chat, complete and streamed. */

import { z } from "zod";
import type { FinishReason } from "../../contracts/chat-model.ts";
import { lazy } from "../../kernel/lazy.ts";
import type { TokenUsage } from "../../kernel/usage.ts";
import { type AnswerPart, type PartEvent, toAnswerParts } from "../answer-parts.ts";
import type { FormatAnswer } from "../chat-format.ts";
import { type AnswerOf, named } from "../openapi/named.ts";
import { toCohereFrame } from "./error.ts";

const count = z.int().min(0);
const finishReason = z.enum(["COMPLETE", "STOP_SEQUENCE", "MAX_TOKENS", "TOOL_CALL", "ERROR"]);

const Usage = named(
  "CohereUsage",
  lazy.object(() => ({
    billed_units: z.object({ input_tokens: count, output_tokens: count }),
    tokens: z.object({ input_tokens: count, output_tokens: count }),
    cached_tokens: count,
  })),
);

const Call = named(
  "CohereToolCall",
  lazy.object(() => ({
    id: z.string(),
    type: z.literal("function"),
    function: z.object({ name: z.string(), arguments: z.string().describe("JSON.") }),
  })),
);

const Content = z.union([
  z.object({ type: z.literal("text"), text: z.string() }),
  z.object({ type: z.literal("thinking"), thinking: z.string() }),
]);

export const CohereChat = named(
  "CohereChat",
  lazy.object(() => ({
    id: z.string(),
    finish_reason: finishReason,
    message: z.object({
      role: z.literal("assistant"),
      content: z.array(Content).optional(),
      tool_calls: z.array(Call).optional(),
    }),
    usage: Usage,
  })),
);

const index = count.describe("Counts contents, and calls, each from 0.");
const delta = (message: z.ZodType) => z.object({ message });

/** An event of a stream. */
export const CohereChatEvent = named(
  "CohereChatEvent",
  z
    .union([
      z.object({
        type: z.literal("message-start"),
        id: z.string(),
        delta: delta(
          z.object({
            role: z.literal("assistant"),
            content: z.array(z.never()),
            tool_plan: z.literal(""),
            tool_calls: z.array(z.never()),
            citations: z.array(z.never()),
          }),
        ),
      }),
      z.object({ type: z.literal("content-start"), index, delta: delta(z.object({ content: Content })) }),
      z.object({
        type: z.literal("content-delta"),
        index,
        delta: delta(z.object({ content: z.object({ text: z.string().optional(), thinking: z.string().optional() }) })),
      }),
      z.object({ type: z.literal("content-end"), index }),
      z.object({ type: z.literal("tool-call-start"), index, delta: delta(z.object({ tool_calls: Call })) }),
      z.object({
        type: z.literal("tool-call-delta"),
        index,
        delta: delta(z.object({ tool_calls: z.object({ function: z.object({ arguments: z.string() }) }) })),
      }),
      z.object({ type: z.literal("tool-call-end"), index }),
      z.object({
        type: z.literal("message-end"),
        id: z.string(),
        delta: z.object({
          finish_reason: finishReason,
          usage: Usage.optional(),
          error: z.string().optional().describe("Why the stream failed; there is no usage then."),
        }),
      }),
    ])
    .describe("The last one is message-end."),
);

type Answer = AnswerOf<typeof CohereChat>;

const REASONS: Readonly<Record<FinishReason, Answer["finish_reason"]>> = {
  stop: "COMPLETE",
  length: "MAX_TOKENS",
  tool_calls: "TOOL_CALL",
  content_filter: "ERROR",
};

type Ended = Extract<PartEvent, { type: "end" }>;

function toReason({ reason, stopText }: Ended): Answer["finish_reason"] {
  return reason === "stop" && stopText !== undefined ? "STOP_SEQUENCE" : REASONS[reason];
}

function toUsage({ promptTokens, completionTokens, cachedTokens }: TokenUsage): Answer["usage"] {
  const tokens = { input_tokens: promptTokens, output_tokens: completionTokens };
  return { billed_units: tokens, tokens, cached_tokens: cachedTokens };
}

type Identified = Pick<FormatAnswer, "id" | "events">;

/** Returns the complete answer; {} if the client has disconnected. */
export async function toCohereChat(answer: Identified): Promise<Answer | object> {
  const parts: { part: AnswerPart; text: string }[] = [];
  for await (const event of toAnswerParts(answer, true)) {
    if (event.type === "part-start") parts.push({ part: event.part, text: "" });
    const current = parts.at(-1);
    if (event.type === "part-delta" && current !== undefined) current.text += event.text;
    if (event.type === "end") return toAnswer(answer.id, parts, event);
  }
  return {};
}

function toAnswer(id: string, parts: readonly { part: AnswerPart; text: string }[], end: Ended): Answer {
  const content = parts.flatMap(({ part, text }) =>
    text === "" || part.type === "tool-call" ? [] : [toContent(part, text)],
  );
  const calls = parts.flatMap(({ part, text }) => (part.type === "tool-call" ? [toCall(part, text)] : []));
  return {
    id,
    finish_reason: toReason(end),
    message: {
      role: "assistant",
      ...(content.length > 0 && { content }),
      ...(calls.length > 0 && { tool_calls: calls }),
    },
    usage: toUsage(end.usage),
  };
}

type Content = NonNullable<Answer["message"]["content"]>[number];

function toContent({ type }: AnswerPart, text: string): Content {
  return type === "reasoning" ? { type: "thinking", thinking: text } : { type: "text", text };
}

function toCall({ id, name }: Extract<AnswerPart, { type: "tool-call" }>, text: string): AnswerOf<typeof Call> {
  return { id, type: "function", function: { name, arguments: text } };
}

/** Yields the frames of a stream. Throws failures. */
export async function* toCohereFrames(answer: Identified): AsyncGenerator<string> {
  const message = { role: "assistant", content: [], tool_plan: "", tool_calls: [], citations: [] };
  yield toCohereFrame("message-start", { id: answer.id, delta: { message } });
  const numbers = new PartNumbers();
  for await (const event of toAnswerParts(answer, true)) {
    switch (event.type) {
      case "part-start":
        yield toCohereFrame(...started(event.part, numbers.begin(event.part)));
        break;
      case "part-delta":
        yield toCohereFrame(...continued(event.part, event.text, numbers.current));
        break;
      case "part-stop":
        yield toCohereFrame(event.part.type === "tool-call" ? "tool-call-end" : "content-end", {
          index: numbers.current,
        });
        break;
      case "end": {
        const delta = { finish_reason: toReason(event), usage: toUsage(event.usage) };
        yield toCohereFrame("message-end", { id: answer.id, delta });
      }
    }
  }
}

/** Numbers of contents and of calls. */
class PartNumbers {
  current = 0;
  #contents = 0;
  #calls = 0;

  begin({ type }: AnswerPart): number {
    this.current = type === "tool-call" ? this.#calls++ : this.#contents++;
    return this.current;
  }
}

type Frame = [type: string, fields: object];

function started(part: AnswerPart, at: number): Frame {
  if (part.type === "tool-call") {
    return ["tool-call-start", { index: at, delta: { message: { tool_calls: toCall(part, "") } } }];
  }
  return ["content-start", { index: at, delta: { message: { content: toContent(part, "") } } }];
}

function continued({ type }: AnswerPart, text: string, at: number): Frame {
  if (type === "tool-call") {
    return ["tool-call-delta", { index: at, delta: { message: { tool_calls: { function: { arguments: text } } } } }];
  }
  const content = type === "reasoning" ? { thinking: text } : { text };
  return ["content-delta", { index: at, delta: { message: { content } } }];
}
