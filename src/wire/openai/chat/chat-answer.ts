/** Renders a chat answer as one `chat.completion`. */

import type { ToolCall } from "../../../contracts/chat-message.ts";
import type { FinishReason, TokenLogprob } from "../../../contracts/chat-model.ts";
import type { ForwardedEvent } from "../../../contracts/chat-proxy.ts";
import type { AnswerIdentity } from "../../answer-identity.ts";
import { readCompletion } from "../../forwarded-answer.ts";
import type { AnswerOf } from "../../openapi/named.ts";
import { toEnvelope, toLogprobs, toReasoning, toUsage } from "./chat-envelope.ts";
import type { ChatCompletion, ChatModeration, ToolCall as ToolCallAnswer, UrlCitation } from "./completion-answers.ts";
import { ReasoningDetails, toExtraContent } from "./reasoning-details.ts";
import type { RenderedEvent } from "./searched-events.ts";
import { toUrlCitations } from "./url-citations.ts";

interface Choice {
  text: string;
  reasoning: string;
  details: ReasoningDetails;
  refusal: string;
  calls: ToolCall[];
  citations: AnswerOf<typeof UrlCitation>[];
  logprobs: TokenLogprob[];
  reason: FinishReason;
}

/** Returns the moderation result once the events have ended. */
export type RenderModeration = (() => AnswerOf<typeof ChatModeration>) | undefined;

/** An answer whose events are rendered. */
export interface RenderedAnswer extends AnswerIdentity {
  events: AsyncIterable<RenderedEvent>;
}

/** Folds the events into the answer's JSON. */
export async function toCompletion(answer: RenderedAnswer, moderation: RenderModeration): Promise<string> {
  const choices: Choice[] = [];
  let fields = {};
  for await (const event of answer.events) {
    if (event.type === "finish") {
      fields = {
        ...toEnvelope(answer),
        object: "chat.completion",
        choices: choices.map(toChoice),
        usage: toUsage(event.usage),
      };
    } else if ("choice" in event) {
      fold(choiceAt(choices, event.choice), event);
    }
  }
  return JSON.stringify(moderation === undefined ? fields : { ...fields, moderation: moderation() });
}

/** Returns the JSON of an upstream's answer. */
export async function toForwardedCompletion(
  bytes: AsyncIterable<ForwardedEvent>,
  moderation: RenderModeration,
): Promise<string> {
  const { fields, json } = (await readCompletion(bytes)) ?? { fields: {}, json: "{}" };
  return moderation === undefined ? json : JSON.stringify({ ...fields, moderation: moderation() });
}

function choiceAt(choices: Choice[], index: number): Choice {
  while (choices.length <= index)
    choices.push({
      text: "",
      reasoning: "",
      details: new ReasoningDetails(),
      refusal: "",
      calls: [],
      citations: [],
      logprobs: [],
      reason: "stop",
    });
  return choices[index] as Choice;
}

function fold(choice: Choice, event: Extract<RenderedEvent, { choice: number }>): void {
  switch (event.type) {
    case "text":
      if (event.isRefusal) choice.refusal += event.text;
      else choice.text += event.text;
      if (event.logprobs !== undefined) choice.logprobs.push(...event.logprobs);
      break;
    case "reasoning":
      choice.reasoning += event.text;
      choice.details.add(event);
      break;
    case "tool-call":
      choice.calls[event.index] = { id: event.id, name: event.name, arguments: "", signature: event.signature };
      break;
    case "tool-arguments": {
      const call = choice.calls[event.index];
      if (call === undefined) throw new Error(`Arguments of the call ${event.index}, which has not begun`);
      call.arguments += event.text;
      break;
    }
    case "annotations":
      choice.citations.push(...toUrlCitations(event.annotations));
      break;
    case "choice-end":
      choice.reason = event.reason;
  }
}

function toChoice(
  { text, reasoning, details, refusal, calls, citations, logprobs, reason }: Choice,
  index: number,
): AnswerOf<typeof ChatCompletion>["choices"][number] {
  const hasNoText = text === "" && (calls.length > 0 || refusal !== "");
  return {
    index,
    message: {
      role: "assistant",
      content: hasNoText ? null : text,
      ...(reasoning === "" ? {} : toReasoning(reasoning)),
      ...(details.entries.length === 0 ? {} : { reasoning_details: details.entries }),
      refusal: refusal === "" ? null : refusal,
      ...(calls.length === 0 ? {} : { tool_calls: calls.map(toWireCall) }),
      ...(citations.length === 0 ? {} : { annotations: citations }),
    },
    logprobs: toLogprobs(logprobs),
    finish_reason: reason,
  };
}

function toWireCall({ id, name, arguments: text, signature }: ToolCall): AnswerOf<typeof ToolCallAnswer> {
  return { id, type: "function", function: { name, arguments: text }, ...toExtraContent(signature) };
}
