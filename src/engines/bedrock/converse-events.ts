/** Reads the stream of Bedrock's ConverseStream as typed events. */

import type { ChatRequest, FinishReason } from "../../contracts/chat-model.ts";
import type { TokenUsage } from "../../kernel/usage.ts";
import { parseBedrockUsage } from "../../wire/usage/bedrock-usage.ts";
import { toServiceTier } from "../../wire/usage/usage-fields.ts";
import { type Fields, fieldsOf, NativeEvents, textOf } from "../native-upstream/native-events.ts";
import { UpstreamError } from "../openai-compatible/upstream-error.ts";
import { toBedrockError } from "./bedrock-error.ts";
import { EventStream, EXCEPTION } from "./event-stream.ts";

const REASONS: Readonly<Record<string, FinishReason>> = {
  max_tokens: "length",
  model_context_window_exceeded: "length",
  tool_use: "tool_calls",
  content_filtered: "content_filter",
  guardrail_intervened: "content_filter",
};

export class ConverseEvents extends NativeEvents {
  #usage: TokenUsage | undefined;
  /** Calls by the indexes of their blocks, and whether they have arguments. */
  readonly #calls = new Map<unknown, { index: number; hasArguments: boolean }>();
  isComplete = false;

  constructor(request: ChatRequest) {
    super(request, false, new EventStream());
  }

  protected reportedUsage(): TokenUsage | undefined {
    return this.#usage;
  }

  protected readEvent(event: Fields, type: string | undefined): void {
    if (type?.startsWith(EXCEPTION)) throw toBedrockError(type.slice(EXCEPTION.length), event);
    switch (type) {
      case "contentBlockStart":
        this.#begin(event.contentBlockIndex, fieldsOf(fieldsOf(event.start).toolUse));
        break;
      case "contentBlockDelta":
        this.#add(event.contentBlockIndex, fieldsOf(event.delta));
        break;
      case "contentBlockStop": {
        const call = this.#calls.get(event.contentBlockIndex);
        if (call?.hasArguments === false) this.answer.arguments(call.index, "{}");
        break;
      }
      case "messageStop":
        this.#stop(event);
        break;
      case "metadata":
        this.#usage = parseBedrockUsage(event.usage, toServiceTier(fieldsOf(event.serviceTier).type));
        this.isDone = true;
    }
  }

  #begin(block: unknown, { toolUseId: id, name }: Fields): void {
    if (typeof name !== "string") return;
    const index = this.answer.call({ id, name });
    if (index !== undefined) this.#calls.set(block, { index, hasArguments: false });
  }

  #add(block: unknown, { text, toolUse, reasoningContent }: Fields): void {
    this.answer.text(textOf(text));
    const { text: thought, signature, redactedContent } = fieldsOf(reasoningContent);
    this.answer.reasoning(textOf(thought));
    if (typeof redactedContent === "string") this.answer.encrypted(redactedContent);
    this.answer.sign(textOf(signature));
    const call = this.#calls.get(block);
    const written = textOf(fieldsOf(toolUse).input);
    if (call === undefined || written === "") return;
    call.hasArguments = true;
    this.answer.arguments(call.index, written);
  }

  #stop({ stopReason, additionalModelResponseFields: further }: Fields): void {
    const reason = textOf(stopReason);
    if (reason.startsWith("malformed_")) throw new UpstreamError("ended its answer with something that is not valid");
    const stopText = fieldsOf(further).stop_sequence;
    this.answer.end(REASONS[reason] ?? "stop", 0, typeof stopText === "string" ? stopText : undefined);
    this.isComplete = true;
  }
}
