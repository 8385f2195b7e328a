/** Reads answers in OpenAI's format, streamed or complete, as typed events. */

import type { ChatEvent, FinishReason, TokenLogprob } from "../../../contracts/chat-model.ts";
import { newId } from "../../../kernel/id.ts";
import { EventReader } from "../../../kernel/server-sent-events.ts";
import type { TokenUsage } from "../../../kernel/usage.ts";
import { UpstreamError } from "../upstream-error.ts";
import { type Chunk, ChunkReader, type ChunkReaderOptions } from "./chunk-reader.ts";
import { CompletionEstimate, textBytesOf } from "./completion-estimate.ts";
import { type FrameSink, MAX_FRAME_BYTES } from "./frame-sink.ts";

type Fields = Readonly<Record<string, unknown>>;

export class ChatEvents implements FrameSink<ChatEvent> {
  readonly #events = new EventReader(MAX_FRAME_BYTES);
  readonly #reader: ChunkReader;
  readonly #choices: number;
  /** Started calls, as `choice index`. */
  readonly #begunCalls = new Set<string>();
  readonly #ended = new Set<number>();
  readonly #estimate = new CompletionEstimate();
  failure: UpstreamError | undefined;

  constructor(options: ChunkReaderOptions) {
    this.#reader = new ChunkReader(options);
    this.#choices = options.choices;
  }

  get estimatedTokens(): number {
    return this.#estimate.tokens;
  }

  get isDone(): boolean {
    return this.#reader.isDone;
  }

  get isComplete(): boolean {
    return this.#reader.isComplete;
  }

  get usage(): TokenUsage | undefined {
    return this.#reader.usage;
  }

  take(chunks: readonly Buffer[]): ChatEvent[] | undefined {
    let events: ChatEvent[] | undefined;
    for (const bytes of chunks) {
      const read = this.#events.read(bytes);
      if (read === undefined) continue;
      events ??= [];
      if (!this.#readInto(events, read)) break;
    }
    return events;
  }

  /** Returns false once the answer is complete or broken. */
  #readInto(events: ChatEvent[], read: Iterable<{ event?: string | undefined; data: string }>): boolean {
    try {
      for (const { event, data } of read) {
        if (this.#reader.isDone) return false;
        const chunk = this.#reader.read({ event, data: data.trim() });
        if (chunk !== undefined) this.#add(chunk, events);
      }
      return true;
    } catch (error) {
      if (!(error instanceof UpstreamError)) throw error;
      this.failure = error;
      return false;
    }
  }

  /** Ends the open choices, then the answer. */
  finish(usage: TokenUsage): ChatEvent[] {
    const events: ChatEvent[] = [];
    for (let choice = 0; choice < this.#choices; choice += 1) {
      this.#end(choice, toFinishReason(this.#reader.finishReason), events);
    }
    return [...events, { type: "finish", usage }];
  }

  #add({ choices }: Chunk, events: ChatEvent[]): void {
    const before = events.length;
    const textBytes = textBytesOf(choices);
    const tokens = this.#estimate.tokensWith(textBytes);
    for (const each of choices) {
      const { index, delta, text, logprobs } = (each ?? {}) as Fields;
      // A text completion has `text` in place of `delta`.
      this.#addMessage(
        toIndex(index),
        (delta ?? { content: text }) as Fields,
        toTokenLogprobs(logprobs),
        events,
        tokens,
      );
    }
    if (events.length > before) this.#estimate.addFrame(textBytes);
    for (const each of choices) {
      const { index, finish_reason: reason, stop_reason: stop } = (each ?? {}) as Fields;
      if (typeof reason === "string" && reason !== "") this.#end(toIndex(index), toFinishReason(reason), events, stop);
    }
  }

  #addMessage(
    choice: number,
    message: Fields,
    logprobs: readonly TokenLogprob[],
    events: ChatEvent[],
    completionTokens: number,
  ): void {
    const reasoning = reasoningIn(message);
    if (reasoning !== "") events.push({ type: "reasoning", choice, text: reasoning, completionTokens });
    const text = textIn(message);
    if (text !== "" || logprobs.length > 0) {
      events.push({ type: "text", choice, text, completionTokens, ...(logprobs.length > 0 && { logprobs }) });
    }
    const { refusal } = message;
    if (typeof refusal === "string" && refusal !== "") {
      events.push({ type: "text", choice, text: refusal, completionTokens, isRefusal: true });
    }
    const calls = Array.isArray(message.tool_calls) ? (message.tool_calls as Fields[]) : [];
    for (const [position, call] of calls.entries()) this.#addCall(choice, position, call, events, completionTokens);
  }

  #addCall(
    choice: number,
    position: number,
    { index: given, id, function: called }: Fields,
    events: ChatEvent[],
    completionTokens: number,
  ): void {
    const index = toIndex(given, position);
    const { name, arguments: written } = (called ?? {}) as Fields;
    const key = `${choice} ${index}`;
    if (!this.#begunCalls.has(key)) {
      this.#begunCalls.add(key);
      const callId = typeof id === "string" && id !== "" ? id : newId("call_");
      events.push({ type: "tool-call", choice, index, id: callId, name: String(name ?? ""), completionTokens });
    }
    // Some upstreams send an object instead of JSON text.
    const text = typeof written === "object" && written !== null ? JSON.stringify(written) : String(written ?? "");
    if (text !== "") events.push({ type: "tool-arguments", choice, index, text, completionTokens });
  }

  /** `stop`: vLLM's `stop_reason`, which is the stop text, or a number where a token ended the choice. */
  #end(choice: number, reason: FinishReason, events: ChatEvent[], stop?: unknown): void {
    if (this.#ended.has(choice)) return;
    this.#ended.add(choice);
    const isStopText = reason === "stop" && typeof stop === "string";
    events.push({ type: "choice-end", choice, reason, ...(isStopText ? { stopText: stop } : {}) });
  }

  /** Converts a complete answer to events. */
  static ofCompletion({ choices }: Fields, usage: TokenUsage): ChatEvent[] {
    const choiceList = choices as Fields[];
    const read = new ChatEvents({ choices: choiceList.length });
    const events: ChatEvent[] = [];
    for (const [
      position,
      { index, message, logprobs, finish_reason: reason, stop_reason: stop },
    ] of choiceList.entries()) {
      const choice = toIndex(index, position);
      read.#addMessage(choice, (message ?? {}) as Fields, toTokenLogprobs(logprobs), events, usage.completionTokens);
      read.#end(choice, toFinishReason(reason), events, stop);
    }
    return [...events, { type: "finish", usage }];
  }
}

function toIndex(value: unknown, otherwise = 0): number {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : otherwise;
}

/** Mistral sends reasoning and text as parts. */
function textIn({ content }: Fields): string {
  const text = Array.isArray(content) ? partsIn(content, "text") : content;
  return typeof text === "string" ? text : "";
}

function partsIn(parts: readonly unknown[], type: string): string {
  return parts
    .map((part) => (part as Fields | null)?.[type])
    .flatMap((value) => (Array.isArray(value) ? partsIn(value, "text") : value))
    .filter((value) => typeof value === "string")
    .join("");
}

/** Reads reasoning from DeepSeek's or vLLM's field; upstreams that send both repeat the text. */
function reasoningIn({ reasoning_content, reasoning, content }: Fields): string {
  const text = reasoning_content ?? reasoning;
  if (typeof text === "string") return text;
  return Array.isArray(content) ? partsIn(content, "thinking") : "";
}

function toFinishReason(reason: unknown): FinishReason {
  switch (reason) {
    case "length":
    case "tool_calls":
    case "content_filter":
      return reason;
    case "function_call":
      return "tool_calls";
    default:
      return "stop";
  }
}

function toTokenLogprobs(logprobs: unknown): TokenLogprob[] {
  const content = (logprobs as Fields | null | undefined)?.content;
  if (!Array.isArray(content)) return [];
  return (content as Fields[]).map((each) => {
    const top = Array.isArray(each.top_logprobs) ? (each.top_logprobs as Fields[]) : [];
    return { ...toLogprob(each), top: top.map(toLogprob) };
  });
}

function toLogprob({ token: given, logprob, bytes }: Fields): Omit<TokenLogprob, "top"> {
  const token = String(given);
  return { token, logprob: Number(logprob), bytes: Array.isArray(bytes) ? bytes : [...Buffer.from(token)] };
}
