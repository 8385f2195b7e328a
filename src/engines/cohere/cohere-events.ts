/** Reads the stream of Cohere's POST /v2/chat as typed events. */

import type { ChatRequest, FinishReason } from "../../contracts/chat-model.ts";
import type { TokenUsage } from "../../kernel/usage.ts";
import { parseCohereUsage } from "../../wire/usage/cohere-usage.ts";
import { type Fields, fieldsOf, NativeEvents, textOf } from "../native-upstream/native-events.ts";
import { withProvider } from "../native-upstream/signatures.ts";
import { UpstreamError } from "../openai-compatible/upstream-error.ts";
import { COHERE, PLAN } from "./cohere-request.ts";

const REASONS: Readonly<Record<string, FinishReason>> = {
  MAX_TOKENS: "length",
  TOOL_CALL: "tool_calls",
};

export class CohereEvents extends NativeEvents {
  #usage: unknown;
  /** Kind of the reasoning that has not ended: its mark. */
  #thinking: string | undefined;
  readonly #calls = new Map<unknown, number>();
  isComplete = false;

  constructor(request: ChatRequest) {
    super(request);
  }

  protected reportedUsage(): TokenUsage | undefined {
    return parseCohereUsage(this.#usage);
  }

  protected readEvent({ type, index, delta }: Fields): void {
    const message = fieldsOf(fieldsOf(delta).message);
    switch (type) {
      case "content-start":
      case "content-delta": {
        const { text, thinking } = fieldsOf(message.content);
        this.#think(textOf(thinking), "");
        this.#say(textOf(text));
        break;
      }
      case "tool-plan-delta":
        this.#think(textOf(message.tool_plan), PLAN);
        break;
      case "tool-call-start":
        this.#call(index, fieldsOf(message.tool_calls));
        break;
      case "tool-call-delta": {
        const call = this.#calls.get(index);
        const written = textOf(fieldsOf(fieldsOf(message.tool_calls).function).arguments);
        if (call !== undefined) this.answer.arguments(call, written);
        break;
      }
      case "message-end":
        this.#end(fieldsOf(delta));
    }
  }

  #say(text: string): void {
    if (text === "") return;
    this.#endThinking();
    this.answer.text(text);
  }

  #think(text: string, mark: string): void {
    if (text === "") return;
    if (this.#thinking !== mark) this.#endThinking();
    this.#thinking = mark;
    this.answer.reasoning(text);
  }

  #endThinking(): void {
    if (this.#thinking !== undefined) this.answer.sign(withProvider(this.#thinking, COHERE));
    this.#thinking = undefined;
  }

  #call(block: unknown, { id, function: called }: Fields): void {
    this.#endThinking();
    const { name, arguments: written } = fieldsOf(called);
    const index = this.answer.call({ id, name: textOf(name) });
    if (index === undefined) return;
    this.#calls.set(block, index);
    this.answer.arguments(index, textOf(written));
  }

  #end({ finish_reason: reason, usage, error }: Fields): void {
    if (usage !== undefined) this.#usage = usage;
    if (reason === "ERROR" || reason === "TIMEOUT") {
      const status = reason === "TIMEOUT" ? 504 : 500;
      throw new UpstreamError("ended its answer with an error", { message: textOf(error) || undefined, status });
    }
    this.#endThinking();
    this.answer.end(REASONS[textOf(reason)] ?? "stop");
    this.isComplete = true;
    this.isDone = true;
  }
}
