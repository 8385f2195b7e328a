/** Reads the events of a provider's stream one by one. */

import type { ChatEvent, ChatRequest } from "../../contracts/chat-model.ts";
import { EventReader } from "../../kernel/server-sent-events.ts";
import type { TokenUsage } from "../../kernel/usage.ts";
import { withCalls } from "../../wire/usage/usage-fields.ts";
import { type FrameSink, MAX_FRAME_BYTES } from "../openai-compatible/chat/frame-sink.ts";
import { parseObject } from "../openai-compatible/chat/native-frames.ts";
import { UpstreamError } from "../openai-compatible/upstream-error.ts";
import { AnswerEvents } from "./answer-events.ts";

export type Fields = Readonly<Record<string, unknown>>;

/** Cuts bytes into events, each JSON. Returns undefined while none is complete. */
export interface EventFraming {
  read(chunk: Buffer): ReadonlyArray<{ event?: string | undefined; data: string }> | undefined;
}

export abstract class NativeEvents implements FrameSink<ChatEvent> {
  protected readonly answer: AnswerEvents;
  readonly #framing: EventFraming;
  failure: UpstreamError | undefined;
  isDone = false;

  constructor(
    request: ChatRequest,
    providerLimitsCalls = false,
    framing: EventFraming = new EventReader(MAX_FRAME_BYTES),
  ) {
    this.answer = new AnswerEvents(request, providerLimitsCalls);
    this.#framing = framing;
  }

  abstract readonly isComplete: boolean;

  /** The provider's report; undefined before it. */
  protected abstract reportedUsage(): TokenUsage | undefined;

  /** Adds what the event holds to `answer`. Throws an UpstreamError. */
  protected abstract readEvent(fields: Fields, event: string | undefined): void;

  /** Ends choices whose end the provider does not report. */
  protected complete(): void {}

  get usage(): TokenUsage | undefined {
    return withCalls(this.reportedUsage(), this.answer.calls);
  }

  get estimatedTokens(): number {
    return this.answer.estimatedTokens;
  }

  take(chunks: readonly Buffer[]): readonly ChatEvent[] | undefined {
    let hasRead = false;
    try {
      for (const bytes of chunks) {
        const read = this.#framing.read(bytes);
        hasRead ||= read !== undefined;
        this.#readAll(read ?? []);
      }
    } catch (error) {
      if (!(error instanceof UpstreamError)) throw error;
      this.failure = error;
      return this.answer.take();
    }
    return hasRead ? this.answer.take() : undefined;
  }

  #readAll(read: Iterable<{ event?: string | undefined; data: string }>): void {
    for (const { event, data } of read) {
      if (this.isDone) break;
      if (data === "[DONE]") this.isDone = true;
      else this.readEvent(parseObject(data), event);
    }
  }

  finish(usage: TokenUsage): readonly ChatEvent[] {
    this.complete();
    return this.answer.finish(usage);
  }
}

export function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}

export function listOf(value: unknown): Fields[] {
  return Array.isArray(value) ? value.map(fieldsOf) : [];
}

export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
