/** Builds the typed events of an answer from the pieces that a provider sends. */

import type { ChatEvent, ChatRequest, FinishReason, TokenLogprob } from "../../contracts/chat-model.ts";
import { newId } from "../../kernel/id.ts";
import type { TokenUsage } from "../../kernel/usage.ts";
import { CompletionEstimate } from "../openai-compatible/chat/completion-estimate.ts";

export class AnswerEvents {
  readonly #estimate = new CompletionEstimate();
  readonly #ended = new Set<number>();
  readonly #callCounts = new Map<number, number>();
  readonly #onlyFirstCall: boolean;
  /** Names of called functions. */
  readonly calls: string[] = [];
  #events: ChatEvent[] = [];

  /**
   * A provider that always allows parallel calls may have made several although the caller takes one: the model makes the
   * others again after the result of the first.
   */
  constructor({ parallelToolCalls, tools }: ChatRequest, providerLimitsCalls = false) {
    this.#onlyFirstCall = !providerLimitsCalls && !parallelToolCalls && tools.length > 0;
  }

  get estimatedTokens(): number {
    return this.#estimate.tokens;
  }

  /** Returns the events since the last call. */
  take(): ChatEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }

  start(promptTokens: number, cachedTokens: number): void {
    this.#events.push({ type: "start", promptTokens, cachedTokens });
  }

  text(text: string, choice = 0, isRefusal = false, logprobs: readonly TokenLogprob[] = []): void {
    if (text === "" && logprobs.length === 0) return;
    const completionTokens = this.#count(text);
    const further = { ...(isRefusal && { isRefusal }), ...(logprobs.length > 0 && { logprobs }) };
    this.#events.push({ type: "text", choice, text, completionTokens, ...further });
  }

  reasoning(text: string, choice = 0): void {
    if (text !== "") this.#events.push({ type: "reasoning", choice, text, completionTokens: this.#count(text) });
  }

  /** Ends the reasoning with the value by which the provider recognizes it. */
  sign(signature: string, choice = 0): void {
    if (signature === "") return;
    this.#events.push({ type: "reasoning", choice, text: "", signature, completionTokens: this.estimatedTokens });
  }

  encrypted(encrypted: string, choice = 0): void {
    this.#events.push({ type: "reasoning", choice, text: "", encrypted, completionTokens: this.estimatedTokens });
  }

  /** Begins a call and returns its index; undefined for one that the caller does not take. */
  call({ id, name, signature }: { id?: unknown; name: string; signature?: string | undefined }, choice = 0) {
    const index = this.#callCounts.get(choice) ?? 0;
    if (this.#onlyFirstCall && index > 0) return undefined;
    this.#callCounts.set(choice, index + 1);
    this.calls.push(name);
    const callId = typeof id === "string" && id !== "" ? id : newId("call_");
    const completionTokens = this.#count(name);
    const signed = signature === undefined ? {} : { signature };
    this.#events.push({ type: "tool-call", choice, index, id: callId, name, completionTokens, ...signed });
    return index;
  }

  arguments(index: number, text: string, choice = 0): void {
    if (text === "") return;
    this.#events.push({ type: "tool-arguments", choice, index, text, completionTokens: this.#count(text) });
  }

  hasCalls(choice = 0): boolean {
    return (this.#callCounts.get(choice) ?? 0) > 0;
  }

  end(reason: FinishReason, choice = 0, stopText?: string): void {
    if (this.#ended.has(choice)) return;
    this.#ended.add(choice);
    const stopped = stopText === undefined ? {} : { stopText };
    this.#events.push({ type: "choice-end", choice, reason, ...stopped });
  }

  get endedChoices(): number {
    return this.#ended.size;
  }

  finish(usage: TokenUsage): ChatEvent[] {
    return [...this.take(), { type: "finish", usage }];
  }

  #count(text: string): number {
    this.#estimate.addFrame(Buffer.byteLength(text));
    return this.#estimate.tokens;
  }
}
