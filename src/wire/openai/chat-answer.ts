/** A chat model's events as one `chat.completion`. */

import type { ChatEvent, FinishReason, TokenLogprob, ToolCall } from "../../engines/chat-model.ts";
import { toWireCompletion, type WireCompletion } from "../../engines/wire-completion.ts";
import { newEnvelope, toLogprobs, toReasoning, toUsage } from "./chat-envelope.ts";

interface Choice {
  text: string;
  reasoning: string;
  calls: ToolCall[];
  logprobs: TokenLogprob[];
  reason: FinishReason;
}

/** Folds the events into the answer's JSON. `judged` says, once they are over, what moderation found. */
export async function toCompletion(
  model: string,
  events: AsyncIterable<ChatEvent>,
  judged?: () => Record<string, unknown>,
): Promise<string> {
  const choices: Choice[] = [];
  // An upstream's answer has its own, and random bytes cost more than all else here.
  let envelope: ReturnType<typeof newEnvelope> | undefined;
  // Without an end there is an abort behind it, and nobody is left to read the answer.
  let completion = NOTHING;
  for await (const event of events) {
    if (event.type === "finish") {
      completion =
        event.completion ??
        toWireCompletion({
          ...(envelope ?? newEnvelope(model)),
          object: "chat.completion",
          choices: choices.map(toChoice),
          usage: toUsage(event.usage),
        });
    } else if ("choice" in event) {
      envelope ??= newEnvelope(model);
      fold(choiceAt(choices, event.choice), event);
    }
  }
  return judged === undefined ? completion.json : JSON.stringify({ ...completion.fields, moderation: judged() });
}

const NOTHING: WireCompletion = toWireCompletion({});

function choiceAt(choices: Choice[], index: number): Choice {
  while (choices.length <= index) choices.push({ text: "", reasoning: "", calls: [], logprobs: [], reason: "stop" });
  return choices[index] as Choice;
}

function fold(choice: Choice, event: Extract<ChatEvent, { choice: number }>): void {
  switch (event.type) {
    case "text":
      choice.text += event.text;
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

function toChoice({ text, reasoning, calls, logprobs, reason }: Choice, index: number): Record<string, unknown> {
  const hasOnlyCalls = text === "" && calls.length > 0;
  return {
    index,
    message: {
      role: "assistant",
      content: hasOnlyCalls ? null : text,
      ...(reasoning === "" ? {} : toReasoning(reasoning)),
      refusal: null,
      ...(calls.length === 0 ? {} : { tool_calls: calls.map(toWireCall) }),
    },
    logprobs: toLogprobs(logprobs),
    finish_reason: reason,
  };
}

function toWireCall({ id, name, arguments: text }: ToolCall): Record<string, unknown> {
  return { id, type: "function", function: { name, arguments: text } };
}
