/** Converts a chat answer to sequential parts, from which formats with content blocks or output items are rendered. */

import type { ChatEvent, FinishReason, TokenLogprob } from "../contracts/chat-model.ts";
import { Fault } from "../kernel/faults.ts";
import type { TokenUsage } from "../kernel/usage.ts";

export type AnswerPart =
  | { type: "text" }
  | { type: "refusal" }
  /** `encrypted`: reasoning that only its provider can read. */
  | { type: "reasoning"; encrypted?: string }
  | { type: "tool-call"; id: string; name: string };

export type PartEvent =
  | { type: "start"; promptTokens: number; cachedTokens: number }
  | { type: "part-start"; index: number; part: AnswerPart }
  /** A piece of a text, of the reasoning, or of a call's arguments as JSON. */
  | { type: "part-delta"; index: number; part: AnswerPart; text: string; logprobs: readonly TokenLogprob[] }
  /** Value by which the provider recognizes the reasoning, at its end. */
  | { type: "part-signature"; index: number; part: AnswerPart; signature: string }
  | { type: "part-stop"; index: number; part: AnswerPart }
  /** `isRefused`: whether the model declined to answer. */
  | { type: "end"; reason: FinishReason; stopText: string | undefined; isRefused: boolean; usage: TokenUsage };

/**
 * Yields the parts of the only choice, one after the other, even if its calls are interleaved. `separatesRefusals`:
 * whether a refusal is a part of its own rather than text. Throws a Fault.
 */
export async function* toAnswerParts(
  { events }: { events: AsyncIterable<ChatEvent> },
  showsReasoning: boolean,
  separatesRefusals = false,
): AsyncGenerator<PartEvent> {
  const parts = new PartSequence(showsReasoning, separatesRefusals);
  let ended: { reason: FinishReason; stopText: string | undefined } = { reason: "stop", stopText: undefined };
  let isRefused = false;
  for await (const event of events) {
    switch (event.type) {
      case "start":
        yield event;
        break;
      case "choice-end":
        yield* parts.stop();
        ended = { reason: event.reason, stopText: event.stopText };
        break;
      case "finish":
        yield { type: "end", ...ended, isRefused, usage: event.usage };
        break;
      // The prompt is no part of the answer.
      case "echo":
        break;
      default:
        isRefused ||= event.type === "text" && event.isRefusal === true;
        yield* parts.append(event);
    }
  }
}

interface OpenPart {
  index: number;
  part: AnswerPart;
  call: Call | undefined;
}

interface Call {
  index: number;
  id: string;
  name: string;
  arguments: string;
}

/**
 * Opens one part at a time. Upstreams may send the arguments of parallel calls interleaved: a call waits until the
 * arguments of the call before it are complete JSON.
 */
class PartSequence {
  #open: OpenPart | undefined;
  #count = 0;
  readonly #waiting: Call[] = [];
  readonly #showsReasoning: boolean;
  readonly #separatesRefusals: boolean;

  constructor(showsReasoning: boolean, separatesRefusals: boolean) {
    this.#showsReasoning = showsReasoning;
    this.#separatesRefusals = separatesRefusals;
  }

  append(event: ContentEvent): Generator<PartEvent> {
    switch (event.type) {
      case "text":
        return this.#text(event);
      case "reasoning":
        return this.#reasoning(event);
      case "tool-call":
        return this.#call(event);
      case "tool-arguments":
        return this.#arguments(event.index, event.text);
    }
  }

  *#text({ text, logprobs, isRefusal }: Extract<ContentEvent, { type: "text" }>): Generator<PartEvent> {
    if (text === "" && logprobs === undefined) return;
    yield* this.#write(isRefusal && this.#separatesRefusals ? "refusal" : "text", text, logprobs);
  }

  *#reasoning({ text, encrypted, signature }: Extract<ContentEvent, { type: "reasoning" }>): Generator<PartEvent> {
    if (!this.#showsReasoning) return;
    if (text !== "") yield* this.#write("reasoning", text);
    if (encrypted !== undefined) yield* this.#encrypted(encrypted);
    else if (signature !== undefined) yield* this.#sign(signature);
  }

  *#write(
    type: "text" | "refusal" | "reasoning",
    text: string,
    logprobs?: readonly TokenLogprob[],
  ): Generator<PartEvent> {
    if (this.#open?.part.type !== type) yield* this.#begin({ type });
    yield* this.#append(text, logprobs);
  }

  /** Ends the reasoning with its signature, or writes one of which only the signature is visible. */
  *#sign(signature: string): Generator<PartEvent> {
    if (this.#open?.part.type !== "reasoning") yield* this.#begin({ type: "reasoning" });
    const { index, part } = this.#open as OpenPart;
    yield { type: "part-signature", index, part, signature };
    yield* this.stop();
  }

  *#encrypted(encrypted: string): Generator<PartEvent> {
    yield* this.#begin({ type: "reasoning", encrypted });
    yield* this.stop();
  }

  *#call({ index, id, name, signature }: Extract<ContentEvent, { type: "tool-call" }>): Generator<PartEvent> {
    if (signature !== undefined && this.#showsReasoning) yield* this.#sign(signature);
    const call = { index, id, name, arguments: "" };
    const before = this.#waiting.at(-1) ?? this.#open?.call;
    if (before === undefined || (this.#waiting.length === 0 && isComplete(before))) yield* this.#beginCall(call);
    else this.#waiting.push(call);
  }

  *#arguments(index: number, text: string): Generator<PartEvent> {
    if (text === "") return;
    const waiting = this.#waiting.find((call) => call.index === index);
    if (waiting !== undefined) {
      waiting.arguments += text;
      return;
    }
    const call = this.#open?.call;
    if (call?.index !== index) {
      if (text.trim() === "") return;
      throw new Fault("answer-unfit", "The model added arguments to a tool call that was complete.");
    }
    call.arguments += text;
    yield* this.#append(text);
    while (this.#waiting.length > 0 && this.#open?.call !== undefined && isComplete(this.#open.call)) {
      yield* this.#beginCall(this.#waiting.shift() as Call);
    }
  }

  /** Stops the open part, and writes the calls that wait. */
  *stop(): Generator<PartEvent> {
    for (const call of this.#waiting.splice(0)) yield* this.#beginCall(call);
    yield* this.#stopOpen();
  }

  *#begin(part: AnswerPart): Generator<PartEvent> {
    yield* this.stop();
    yield* this.#openPart(part, undefined);
  }

  *#beginCall(call: Call): Generator<PartEvent> {
    yield* this.#stopOpen();
    yield* this.#openPart({ type: "tool-call", id: call.id, name: call.name }, call);
    if (call.arguments !== "") yield* this.#append(call.arguments);
  }

  *#openPart(part: AnswerPart, call: Call | undefined): Generator<PartEvent> {
    this.#open = { index: this.#count, part, call };
    this.#count += 1;
    yield { type: "part-start", index: this.#open.index, part };
  }

  *#append(text: string, logprobs: readonly TokenLogprob[] = []): Generator<PartEvent> {
    if (this.#open === undefined) return;
    const { index, part } = this.#open;
    yield { type: "part-delta", index, part, text, logprobs };
  }

  *#stopOpen(): Generator<PartEvent> {
    if (this.#open !== undefined) yield { type: "part-stop", index: this.#open.index, part: this.#open.part };
    this.#open = undefined;
  }
}

function isComplete({ arguments: text }: Call): boolean {
  if (!text.trimEnd().endsWith("}")) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

type ContentEvent = Extract<ChatEvent, { type: "text" | "reasoning" | "tool-call" | "tool-arguments" }>;
