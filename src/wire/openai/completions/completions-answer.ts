/** Renders text completions, as one object or as the frames of a stream. */

import type { ChatEvent, EchoedLogprob, FinishReason } from "../../../contracts/chat-model.ts";
import type { AnswerIdentity } from "../../answer-identity.ts";
import type { FormatAnswer } from "../../chat-format.ts";
import { toEnvelope, toUsage } from "../chat/chat-envelope.ts";
import { DONE, toFrame } from "../chat/chat-stream.ts";
import type { CompletionBody } from "./completions-body.ts";
import { appendLogprobs, emptyLogprobs } from "./completions-logprobs.ts";

interface Choice {
  echo: string;
  text: string;
  echoed: EchoedLogprob[];
  logprobs: EchoedLogprob[];
  reason: FinishReason;
}

/** Returns the completion; {} if the client has disconnected. */
export async function toTextCompletion(answer: FormatAnswer, body: CompletionBody): Promise<object> {
  const choices: Choice[] = [];
  for await (const event of answer.events) {
    if ("choice" in event) fold(choiceAt(choices, event.choice), event);
    if (event.type !== "finish") continue;
    return {
      ...newTextChunk(answer),
      choices: bestOf(choices, body).map((choice, index) => toWireChoice(choice, index, body)),
      usage: toUsage(event.usage),
    };
  }
  return {};
}

export function newTextChunk(answer: AnswerIdentity): object {
  return { ...toEnvelope(answer, "cmpl-"), object: "text_completion" };
}

function choiceAt(choices: Choice[], index: number): Choice {
  while (choices.length <= index) choices.push({ echo: "", text: "", echoed: [], logprobs: [], reason: "stop" });
  return choices[index] as Choice;
}

type ChoiceEvent = Extract<ChatEvent, { choice: number }>;

function fold(choice: Choice, event: ChoiceEvent): void {
  if (event.type === "echo") {
    choice.echo = event.text;
    choice.echoed.push(...(event.logprobs ?? []));
  } else if (event.type === "text") {
    choice.text += event.text;
    choice.logprobs.push(...(event.logprobs ?? []));
  } else if (event.type === "choice-end") {
    choice.reason = event.reason;
  }
}

/** Keeps the `n` best of `best_of` choices of each prompt: those with the highest log probability per token. */
function bestOf(choices: readonly Choice[], { n = 1, best_of = n }: CompletionBody): readonly Choice[] {
  if (best_of <= n) return choices;
  const selection: Choice[] = [];
  for (let first = 0; first < choices.length; first += best_of) {
    const ranked = choices.slice(first, first + best_of).toSorted((a, b) => meanLogprob(b) - meanLogprob(a));
    selection.push(...ranked.slice(0, n));
  }
  return selection;
}

function meanLogprob({ logprobs }: Choice): number {
  const sum = logprobs.reduce((total, { logprob = 0 }) => total + logprob, 0);
  return logprobs.length === 0 ? Number.NEGATIVE_INFINITY : sum / logprobs.length;
}

function toWireChoice({ echo, text, echoed, logprobs, reason }: Choice, index: number, body: CompletionBody) {
  const rendered = emptyLogprobs();
  appendLogprobs(rendered, echoed, 0);
  appendLogprobs(rendered, logprobs, echo.length);
  return {
    text: echo + text,
    index,
    logprobs: body.logprobs === undefined ? null : rendered,
    finish_reason: toReason(reason),
  };
}

function toReason(reason: FinishReason): string {
  return reason === "tool_calls" ? "stop" : reason;
}

/** Yields server-sent events, each frame complete. Throws failures. */
export async function* toTextCompletionFrames(answer: FormatAnswer, body: CompletionBody): AsyncGenerator<string> {
  const includeUsage = includesUsage(body);
  const envelope = newTextChunk(answer);
  const offsets = new Map<number, number>();
  for await (const event of answer.events) {
    if (event.type === "finish") {
      if (includeUsage) yield toFrame({ ...envelope, choices: [], usage: toUsage(event.usage) });
      yield DONE;
    } else if (event.type === "echo" || event.type === "text" || event.type === "choice-end") {
      const choice = toTextChoice(event, offsets, body.logprobs !== undefined);
      yield toFrame({ ...envelope, choices: [choice], ...(includeUsage ? { usage: null } : {}) });
    }
  }
}

type TextEvent = Extract<ChatEvent, { type: "echo" | "text" | "choice-end" }>;

/** `offsets`: length of the text of each choice so far. */
function toTextChoice(event: TextEvent, offsets: Map<number, number>, showsLogprobs: boolean) {
  const { text, logprobs: added = [] } = event.type === "choice-end" ? { text: "" } : event;
  const offset = offsets.get(event.choice) ?? 0;
  offsets.set(event.choice, offset + text.length);
  const logprobs = emptyLogprobs();
  appendLogprobs(logprobs, added, offset);
  return {
    text,
    index: event.choice,
    logprobs: showsLogprobs && added.length > 0 ? logprobs : null,
    finish_reason: event.type === "choice-end" ? toReason(event.reason) : null,
  };
}

export function includesUsage({ stream_options: options }: CompletionBody): boolean {
  return options?.include_usage === true;
}
