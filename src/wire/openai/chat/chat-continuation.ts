/**
 * Answers that the last message begins: Mistral's `prefix`, Moonshot's and Qwen's `partial`, and vLLM's
 * `continue_final_message`.
 */

import { type Fault, unsupportedValue } from "../../../kernel/faults.ts";
import { outlineOf } from "../../../kernel/json/json-outline.ts";
import type { Annotation } from "../../responses/item-events.ts";
import type { ChatCompletionBody } from "./chat-body.ts";
import type { RenderedEvent } from "./searched-events.ts";

/** Characters of the beginnings of all choices: each repeats the message, which may be as long as a body. */
const MAX_REPEATED_CHARACTERS = 16_000_000;

interface Continuation {
  /** What the answer begins with, where it repeats the message, as Mistral's does. */
  repeated: string | undefined;
}

/** Returns undefined for a body whose answer begins a new message. */
export function continuationOf(body: ChatCompletionBody): Continuation | undefined {
  const last = messagesOf(body).at(-1);
  if (last?.role !== "assistant") return undefined;
  if (last.prefix === true) return { repeated: textOf(body.messages.at(-1)?.content) };
  const continues = last.partial === true || body.continue_final_message === true;
  return continues ? { repeated: undefined } : undefined;
}

/** Messages without their long texts. */
function messagesOf(body: ChatCompletionBody): ChatCompletionBody["messages"] {
  return (outlineOf(body)?.fields.messages as ChatCompletionBody["messages"] | undefined) ?? body.messages;
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  return ((content ?? []) as { text?: unknown }[]).map(({ text }) => (typeof text === "string" ? text : "")).join("");
}

/** Returns the Fault for a message that cannot begin an answer. */
export function unsupportedContinuation(body: ChatCompletionBody): Fault | undefined {
  const messages = messagesOf(body);
  const end = messages.length - 1;
  for (const [index, message] of messages.entries()) {
    const field = ["prefix", "partial"].find((name) => message[name] === true);
    const isBeginning = index === end && message.role === "assistant";
    if (field === undefined || isBeginning) continue;
    return unsupportedValue(`'${field}' is for the last message, of the assistant.`, `messages[${index}].${field}`);
  }
  const last = messages[end];
  if (body.continue_final_message === true && last?.role !== "assistant") {
    const message = "'continue_final_message' needs a last message of the assistant.";
    return unsupportedValue(message, "continue_final_message");
  }
  const continuation = continuationOf(body);
  if (continuation === undefined) {
    if (body.add_generation_prompt !== false) return undefined;
    const message =
      "This model always answers: 'add_generation_prompt' may be false with 'continue_final_message' only.";
    return unsupportedValue(message, "add_generation_prompt");
  }
  const { repeated = "" } = continuation;
  const choices = body.n ?? 1;
  if (choices > 1 && repeated.length * choices > MAX_REPEATED_CHARACTERS) {
    const message = `Each choice begins with the message, and all of them would repeat more than ${MAX_REPEATED_CHARACTERS} characters: ask for fewer.`;
    return unsupportedValue(message, "n");
  }
  if (last?.role !== "assistant" || !last.tool_calls?.length) return undefined;
  return unsupportedValue(
    "A message with tool calls has ended: no answer continues it.",
    `messages[${end}].tool_calls`,
  );
}

/** Yields the beginning before each choice, whose citations move by it. */
export async function* withBeginning(
  text: string,
  events: AsyncIterable<RenderedEvent>,
): AsyncGenerator<RenderedEvent> {
  const begun = new Set<number>();
  for await (const event of events) {
    if ("choice" in event && !begun.has(event.choice)) {
      begun.add(event.choice);
      yield { type: "text", choice: event.choice, text, completionTokens: 0 };
    }
    yield event.type === "annotations" ? { ...event, annotations: event.annotations.map(moved) } : event;
  }

  function moved({ start_index, end_index, ...citation }: Annotation): Annotation {
    const by = text.length;
    return { ...citation, start_index: Number(start_index) + by, end_index: Number(end_index) + by };
  }
}
