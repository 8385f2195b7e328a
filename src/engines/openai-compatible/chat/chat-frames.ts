/**
 * Forwards the frames of a streamed `chat.completion.chunk` answer with `model` replaced.
 *
 * A frame that differs from an earlier one only in its text is handled as bytes. All others are parsed, including those
 * that are malformed, contain an error, end a choice or report usage.
 */

import type { ForwardedEvent } from "../../../contracts/chat-proxy.ts";
import { newId } from "../../../kernel/id.ts";
import type { TokenUsage } from "../../../kernel/usage.ts";
import { fromLatin1, readFrame, SseFrames, toLatin1 } from "../connection/sse-frames.ts";
import { UpstreamError } from "../upstream-error.ts";
import { ChunkReader, type ChunkReaderOptions } from "./chunk-reader.ts";
import { CompletionEstimate, textBytesOf } from "./completion-estimate.ts";
import { CHAT_COMPLETION, type CompletionKind, TEXT_COMPLETION } from "./completion-kind.ts";
import { type FrameSink, MAX_FRAME_BYTES } from "./frame-sink.ts";
import { FrameTemplate } from "./frame-template.ts";
import { removeValue, setValue } from "./json-text.ts";

/** Interleaved choices need one template each. */
const MAX_TEMPLATES = 4;

export interface ChatFramesOptions extends ChunkReaderOptions {
  /** Value of `model` for the caller. */
  model: string;
  /** Whether the chunks are those of a text completion. */
  isTextCompletion?: boolean | undefined;
  /** `stream_options` of the caller, who may have asked for less usage than this service asks the upstream for. */
  streamOptions?: StreamOptions | undefined;
}

export interface StreamOptions {
  include_usage?: unknown;
  /** vLLM's: usage in each chunk. */
  continuous_usage_stats?: unknown;
}

export class ChatFrames implements FrameSink<ForwardedEvent> {
  readonly #sse = new SseFrames(MAX_FRAME_BYTES);
  readonly #kind: CompletionKind;
  readonly #modelJson: string;
  readonly #streamOptions: StreamOptions;
  readonly #reader: ChunkReader;
  /** Latest first. */
  #templates: FrameTemplate[] = [];
  #id: string | undefined;
  #created: number | undefined;
  readonly #estimate = new CompletionEstimate();
  failure: UpstreamError | undefined;

  constructor({ model, isTextCompletion = false, streamOptions = {}, ...options }: ChatFramesOptions) {
    this.#kind = isTextCompletion ? TEXT_COMPLETION : CHAT_COMPLETION;
    this.#modelJson = toLatin1(JSON.stringify(model));
    this.#streamOptions = streamOptions;
    this.#reader = new ChunkReader(options);
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

  get finishReason(): string | undefined {
    return this.#reader.finishReason;
  }

  get usage(): TokenUsage | undefined {
    return this.#reader.usage;
  }

  take(chunks: readonly Buffer[]): ForwardedEvent[] | undefined {
    const frames = this.#sse.pushAll(chunks);
    if (frames === "") return undefined;
    const rewritten = this.rewrite(frames);
    if (rewritten === "") return [];
    return [{ type: "frames", frames: Buffer.from(rewritten, "latin1"), completionTokens: this.estimatedTokens }];
  }

  finish(usage: TokenUsage): ForwardedEvent[] {
    return [{ type: "finish", usage, usageFrame: this.usageFrame(usage) }];
  }

  /** Frames as `SseFrames` cuts them, rewritten for the caller: one character for each byte, "" when none is to be passed on. */
  rewrite(frames: string): string {
    let out = "";
    let start = 0;
    while (start < frames.length && !this.#reader.isDone) {
      const matched = this.#rewriteByTemplate(frames, start);
      if (matched !== undefined) {
        out += matched.rewritten;
        start = matched.end;
        continue;
      }
      if (frames[start] === "\n") {
        start += 1;
        continue;
      }
      const end = frames.indexOf("\n\n", start) + 2;
      try {
        out += this.#parse(frames.slice(start, end));
      } catch (error) {
        if (!(error instanceof UpstreamError)) throw error;
        this.failure = error;
        return out;
      }
      start = end;
    }
    return out;
  }

  /** Returns the frame that reports `usage`, with the answer's ID and the upstream's details. */
  usageFrame(usage: TokenUsage): Buffer {
    const data = {
      id: this.#id ?? newId(this.#kind.idPrefix),
      object: this.#kind.chunk,
      created: this.#created ?? Math.floor(Date.now() / 1000),
      model: JSON.parse(fromLatin1(this.#modelJson)),
      choices: [],
      usage: usage.estimated
        ? {
            prompt_tokens: usage.promptTokens,
            completion_tokens: usage.completionTokens,
            total_tokens: usage.promptTokens + usage.completionTokens,
          }
        : this.#reader.usageFields,
    };
    return Buffer.from(`data: ${JSON.stringify(data)}\n\n`);
  }

  #rewriteByTemplate(frames: string, start: number): { rewritten: string; end: number } | undefined {
    for (const template of this.#templates) {
      const rewritten = template.rewrite(frames, start);
      if (rewritten === undefined) continue;
      this.#estimate.addFrame(template.textBytes);
      return { rewritten, end: template.end };
    }
    return undefined;
  }

  #parse(frame: string): string {
    const { event, data } = readFrame(frame);
    const chunk = data === undefined ? undefined : this.#reader.read({ event, data: fromLatin1(data) });
    if (data === undefined || chunk === undefined) return "";
    if (chunk.choices.length > 0) this.#estimate.addFrame(textBytesOf(chunk.choices));
    const sent = chunk.isChanged ? toLatin1(JSON.stringify(chunk.fields)) : data;
    const rewritten = `data: ${this.#rename(sent, chunk.fields)}\n\n`;
    if (chunk.isPlain) this.#addTemplate(frame, rewritten);
    return rewritten;
  }

  /** Sets `model`, and `id` where it is missing. */
  #rename(data: string, fields: Record<string, unknown>): string {
    if (typeof fields.created === "number") this.#created ??= fields.created;
    const renamed = setValue(this.#withoutUsage(data, fields), "model", this.#modelJson);
    if (typeof fields.id === "string" && fields.id !== "") {
      this.#id ??= fields.id;
      return renamed;
    }
    this.#id ??= newId(this.#kind.idPrefix);
    return setValue(renamed, "id", toLatin1(JSON.stringify(this.#id)));
  }

  /** Usage goes into a frame of its own, for callers who asked for it; other frames have null then, as in OpenAI's. */
  #withoutUsage(data: string, { usage }: Record<string, unknown>): string {
    const { include_usage: isIncluded, continuous_usage_stats: isContinuous } = this.#streamOptions;
    if (usage === undefined || (isIncluded === true && isContinuous === true)) return data;
    if (isIncluded !== true) return removeValue(data, "usage");
    return usage === null ? data : setValue(data, "usage", "null");
  }

  #addTemplate(frame: string, rewritten: string): void {
    const template = FrameTemplate.of(frame, rewritten);
    if (template !== undefined) this.#templates = [template, ...this.#templates.slice(0, MAX_TEMPLATES - 1)];
  }
}
