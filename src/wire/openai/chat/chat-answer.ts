/** Renders a chat answer as one `chat.completion`. */

import type { ChatEvent, FinishReason, TokenLogprob, ToolCall } from "../../../contracts/chat-model.ts";
import type { ChatAnswerEvents, ForwardedEvent } from "../../../contracts/chat-proxy.ts";
import { newEnvelope, toLogprobs, toReasoning, toUsage } from "./chat-envelope.ts";

interface Choice {
  text: string;
  reasoning: string;
  refusal: string;
  calls: ToolCall[];
  logprobs: TokenLogprob[];
  reason: FinishReason;
}

interface CompletionOptions {
  /** Catalog ID that answers. */
  model: string;
  /** Returns the moderation result once the events have ended. */
  moderation?: (() => Record<string, unknown>) | undefined;
}

/** Folds the events into the answer's JSON. */
export async function toCompletion(
  answer: ChatAnswerEvents,
  { model, moderation }: CompletionOptions,
): Promise<string> {
  const { fields, json } =
    answer.form === "typed" ? await foldTyped(model, answer.events) : await readForwarded(answer.events);
  if (moderation !== undefined) return JSON.stringify({ ...fields, moderation: moderation() });
  return json ?? JSON.stringify(fields);
}

interface Completion {
  fields: Readonly<Record<string, unknown>>;
  /** The same as JSON text, if it is already serialized. */
  json?: string;
}

/** Result of an aborted request, whose client has disconnected. */
const NOTHING: Completion = { fields: {} };

/** Returns the answer of an upstream. */
export async function readForwarded(events: AsyncIterable<ForwardedEvent>): Promise<Completion> {
  let completion = NOTHING;
  for await (const event of events) {
    if (event.type === "finish") completion = event.completion ?? NOTHING;
  }
  return completion;
}

async function foldTyped(model: string, events: AsyncIterable<ChatEvent>): Promise<Completion> {
  const choices: Choice[] = [];
  let completion = NOTHING;
  for await (const event of events) {
    if (event.type === "finish") {
      completion = {
        fields: {
          ...newEnvelope(model),
          object: "chat.completion",
          choices: choices.map(toChoice),
          usage: toUsage(event.usage),
        },
      };
    } else if ("choice" in event) {
      fold(choiceAt(choices, event.choice), event);
    }
  }
  return completion;
}

function choiceAt(choices: Choice[], index: number): Choice {
  while (choices.length <= index)
    choices.push({ text: "", reasoning: "", refusal: "", calls: [], logprobs: [], reason: "stop" });
  return choices[index] as Choice;
}

function fold(choice: Choice, event: Extract<ChatEvent, { choice: number }>): void {
  switch (event.type) {
    case "text":
      if (event.isRefusal) choice.refusal += event.text;
      else choice.text += event.text;
      if (event.logprobs !== undefined) choice.logprobs.push(...event.logprobs);
      break;
    case "reasoning":
      choice.reasoning += event.text;
      break;
    case "tool-call":
      choice.calls[event.index] = { id: event.id, name: event.name, arguments: "" };
      break;
    case "tool-arguments": {
      const call = choice.calls[event.index];
      if (call === undefined) throw new Error(`Arguments of the call ${event.index}, which has not begun`);
      call.arguments += event.text;
      break;
    }
    case "choice-end":
      choice.reason = event.reason;
  }
}

function toChoice(
  { text, reasoning, refusal, calls, logprobs, reason }: Choice,
  index: number,
): Record<string, unknown> {
  const hasNoText = text === "" && (calls.length > 0 || refusal !== "");
  return {
    index,
    message: {
      role: "assistant",
      content: hasNoText ? null : text,
      ...(reasoning === "" ? {} : toReasoning(reasoning)),
      refusal: refusal === "" ? null : refusal,
      ...(calls.length === 0 ? {} : { tool_calls: calls.map(toWireCall) }),
    },
    logprobs: toLogprobs(logprobs),
    finish_reason: reason,
  };
}

function toWireCall({ id, name, arguments: text }: ToolCall): Record<string, unknown> {
  return { id, type: "function", function: { name, arguments: text } };
}
