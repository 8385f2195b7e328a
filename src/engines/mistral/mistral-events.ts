/** Reads the stream of Mistral's chat completions as typed events. */

import type { ChatRequest, FinishReason } from "../../contracts/chat-model.ts";
import { messageText } from "../../contracts/message-text.ts";
import type { TokenUsage } from "../../kernel/usage.ts";
import { parseOpenAiUsage } from "../../wire/usage/openai-usage.ts";
import { type Fields, fieldsOf, listOf, NativeEvents, textOf } from "../native-upstream/native-events.ts";
import { withProvider } from "../native-upstream/signatures.ts";
import { parseUpstreamError, UpstreamError } from "../openai-compatible/upstream-error.ts";
import { MISTRAL } from "./mistral-request.ts";
import { RepeatedBeginning } from "./repeated-beginning.ts";

export class MistralEvents extends NativeEvents {
  readonly #choices: number;
  #usage: unknown;
  readonly #beginning: string;
  readonly #beginnings = new Map<number, RepeatedBeginning>();
  /** Signatures of open reasoning by choice; "" where the provider gives none. */
  readonly #thinking = new Map<number, string>();
  /** Indexes of calls by choice and ID or index. */
  readonly #calls = new Map<string, number | undefined>();

  constructor(request: ChatRequest) {
    super(request, true);
    this.#choices = request.choices;
    const last = request.continuation === undefined ? undefined : request.messages.at(-1);
    this.#beginning = last === undefined ? "" : messageText(last);
  }

  get isComplete(): boolean {
    return this.answer.endedChoices >= this.#choices;
  }

  protected reportedUsage(): TokenUsage | undefined {
    return parseOpenAiUsage(this.#usage);
  }

  protected readEvent(event: Fields): void {
    const error = parseUpstreamError(event);
    if (error !== undefined) throw error;
    if (event.usage !== undefined && event.usage !== null) this.#usage = event.usage;
    for (const { index, delta, finish_reason: reason } of listOf(event.choices)) {
      const choice = typeof index === "number" ? index : 0;
      this.#add(fieldsOf(delta), choice);
      if (typeof reason !== "string") continue;
      if (reason === "error") throw new UpstreamError("ended a choice with an error");
      this.#say(this.#beginningOf(choice).end(), choice);
      this.#endThinking(choice);
      this.answer.end(toReason(reason), choice);
    }
  }

  #add({ content, tool_calls: calls }: Fields, choice: number): void {
    const parts = typeof content === "string" ? [{ type: "text", text: content }] : listOf(content);
    for (const part of parts) this.#addPart(part, choice);
    for (const call of listOf(calls)) this.#addCall(call, choice);
  }

  #addPart({ type, text, thinking, signature }: Fields, choice: number): void {
    if (type === "thinking") {
      this.#thinking.set(choice, (this.#thinking.get(choice) ?? "") + textOf(signature));
      for (const piece of listOf(thinking)) this.answer.reasoning(textOf(piece.text), choice);
      return;
    }
    this.#say(this.#beginningOf(choice).push(textOf(text)), choice);
  }

  #beginningOf(choice: number): RepeatedBeginning {
    const beginning = this.#beginnings.get(choice) ?? new RepeatedBeginning(this.#beginning);
    this.#beginnings.set(choice, beginning);
    return beginning;
  }

  #say(text: string, choice: number): void {
    if (text === "") return;
    this.#endThinking(choice);
    this.answer.text(text, choice);
  }

  #addCall({ id, index, function: called }: Fields, choice: number): void {
    const { name, arguments: written } = fieldsOf(called);
    const key = `${choice} ${String(index ?? id)} ${String(id ?? "")}`;
    if (!this.#calls.has(key)) {
      this.#endThinking(choice);
      this.#calls.set(key, this.answer.call({ id, name: textOf(name) }, choice));
    }
    const call = this.#calls.get(key);
    if (call === undefined) return;
    this.answer.arguments(call, typeof written === "string" ? written : JSON.stringify(written ?? {}), choice);
  }

  #endThinking(choice: number): void {
    const signature = this.#thinking.get(choice);
    if (signature === undefined) return;
    this.#thinking.delete(choice);
    this.answer.sign(withProvider(signature, MISTRAL), choice);
  }
}

function toReason(reason: string): FinishReason {
  if (reason === "length" || reason === "model_length") return "length";
  if (reason === "tool_calls" || reason === "content_filter") return reason;
  return "stop";
}
