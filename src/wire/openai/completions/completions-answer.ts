/** Renders text completions, as one object or as the frames of a stream. */

import type { ChatEvent, EchoedLogprob, FinishReason } from "../../../contracts/chat-model.ts";
import type { ChatAnswerEvents } from "../../../contracts/chat-proxy.ts";
import { readForwarded } from "../chat/chat-answer.ts";
import { newEnvelope, toUsage } from "../chat/chat-envelope.ts";
import { DONE, passOn, toFrame } from "../chat/chat-stream.ts";
import type { CompletionBody } from "./completions-body.ts";
import { appendLogprobs, emptyLogprobs } from "./completions-logprobs.ts";

interface RenderOptions {
  /** Catalog ID that answers. */
  model: string;
  body: CompletionBody;
}

interface Choice {
  echo: string;
  text: string;
  echoed: EchoedLogprob[];
  logprobs: EchoedLogprob[];
  reason: FinishReason;
}

/** Returns the completion as JSON, or as an object. */
export async function toTextCompletion(
  answer: ChatAnswerEvents,
  { model, body }: RenderOptions,
): Promise<string | object> {
  if (answer.form === "forwarded") {
    const { fields, json } = await readForwarded(answer.events);
    return json ?? fields;
  }
  const choices: Choice[] = [];
  for await (const event of answer.events) {
    if ("choice" in event) fold(choiceAt(choices, event.choice), event);
    if (event.type !== "finish") continue;
    return {
      ...newChunk(model),
      choices: bestOf(choices, body).map((choice, index) => toWireChoice(choice, index, body)),
      usage: toUsage(event.usage),
    };
  }
  // The request was aborted: its client has disconnected.
  return {};
}

function newChunk(model: string) {
  return { ...newEnvelope(model, "cmpl-"), object: "text_completion" };
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
export function toTextCompletionFrames(
  answer: ChatAnswerEvents,
  { model, body }: RenderOptions,
): AsyncIterable<string | Uint8Array> {
  const includeUsage = body.stream_options?.include_usage === true;
  if (answer.form === "forwarded") return passOn(answer.events, { model, includeUsage }, newChunk);
  return renderTyped(answer.events, { model, body, includeUsage });
}

async function* renderTyped(
  events: AsyncIterable<ChatEvent>,
  { model, body, includeUsage }: RenderOptions & { includeUsage: boolean },
): AsyncGenerator<string> {
  const envelope = newChunk(model);
  const offsets = new Map<number, number>();
  for await (const event of events) {
    if (event.type === "finish") {
      if (includeUsage) yield toFrame({ ...envelope, choices: [], usage: toUsage(event.usage) });
      yield DONE;
    } else if (event.type === "echo" || event.type === "text" || event.type === "choice-end") {
      const text = event.type === "choice-end" ? "" : event.text;
      const added = event.type === "choice-end" ? [] : (event.logprobs ?? []);
      const offset = offsets.get(event.choice) ?? 0;
      offsets.set(event.choice, offset + text.length);
      const logprobs = emptyLogprobs();
      appendLogprobs(logprobs, added, offset);
      const choice = {
        text,
        index: event.choice,
        logprobs: body.logprobs === undefined || added.length === 0 ? null : logprobs,
        finish_reason: event.type === "choice-end" ? toReason(event.reason) : null,
      };
      yield toFrame({ ...envelope, choices: [choice], ...(includeUsage ? { usage: null } : {}) });
    }
  }
}
