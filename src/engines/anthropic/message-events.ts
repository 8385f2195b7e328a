/** Reads the stream of Anthropic's Messages API as typed events. */

import type { ChatRequest, FinishReason } from "../../contracts/chat-model.ts";
import type { TokenUsage } from "../../kernel/usage.ts";
import { parseAnthropicUsage } from "../../wire/usage/anthropic-usage.ts";
import { type Fields, fieldsOf, NativeEvents, textOf } from "../native-upstream/native-events.ts";
import { errorIn } from "./anthropic-error.ts";

const REASONS: Readonly<Record<string, FinishReason>> = {
  max_tokens: "length",
  model_context_window_exceeded: "length",
  tool_use: "tool_calls",
  refusal: "content_filter",
};

export class MessageEvents extends NativeEvents {
  readonly #reported: Record<string, unknown> = {};
  /** Indexes of calls by those of their blocks. */
  readonly #calls = new Map<unknown, number>();
  /** Blocks of calls whose arguments are complete with their start. */
  readonly #inputs = new Map<unknown, string>();
  isComplete = false;

  constructor(request: ChatRequest) {
    super(request, true);
  }

  protected reportedUsage(): TokenUsage | undefined {
    return parseAnthropicUsage(this.#reported);
  }

  protected readEvent(event: Fields): void {
    switch (event.type) {
      case "error":
        throw errorIn(event);
      case "message_start": {
        this.#note(fieldsOf(event.message).usage);
        const usage = this.reportedUsage();
        if (usage !== undefined) this.answer.start(usage.promptTokens, usage.cachedTokens);
        break;
      }
      case "content_block_start":
        this.#begin(event.index, fieldsOf(event.content_block));
        break;
      case "content_block_delta":
        this.#add(event.index, fieldsOf(event.delta));
        break;
      case "content_block_stop":
        this.#end(event.index);
        break;
      case "message_delta":
        this.#note(event.usage);
        this.#stop(fieldsOf(event.delta));
        break;
      case "message_stop":
        this.isComplete = true;
        this.isDone = true;
    }
  }

  protected override complete(): void {
    this.answer.end("stop");
  }

  #begin(block: unknown, { type, id, name, input, text, thinking, data, signature }: Fields): void {
    if (type === "text") this.answer.text(textOf(text));
    if (type === "thinking") {
      this.answer.reasoning(textOf(thinking));
      this.answer.sign(textOf(signature));
    }
    if (type === "redacted_thinking") this.answer.encrypted(textOf(data));
    if (type !== "tool_use") return;
    const index = this.answer.call({ id, name: textOf(name) });
    if (index === undefined) return;
    this.#calls.set(block, index);
    this.#inputs.set(block, JSON.stringify(input ?? {}));
  }

  #add(block: unknown, delta: Fields): void {
    this.answer.text(textOf(delta.text));
    this.answer.reasoning(textOf(delta.thinking));
    if (delta.type === "signature_delta") this.answer.sign(textOf(delta.signature));
    const index = this.#calls.get(block);
    const written = textOf(delta.partial_json);
    if (index === undefined || written === "") return;
    this.#inputs.delete(block);
    this.answer.arguments(index, written);
  }

  #end(block: unknown): void {
    const index = this.#calls.get(block);
    const input = this.#inputs.get(block);
    if (index !== undefined && input !== undefined) this.answer.arguments(index, input);
    this.#inputs.delete(block);
  }

  #stop({ stop_reason: reason, stop_sequence: stopText, stop_details: details }: Fields): void {
    if (typeof reason !== "string") return;
    if (reason === "refusal") this.answer.text(textOf(fieldsOf(details).explanation), 0, true);
    this.answer.end(REASONS[reason] ?? "stop", 0, typeof stopText === "string" ? stopText : undefined);
  }

  /** Later events repeat some of the counts, and have null for others. */
  #note(usage: unknown): void {
    for (const [name, value] of Object.entries(fieldsOf(usage))) if (value !== null) this.#reported[name] = value;
  }
}
