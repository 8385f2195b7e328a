/**
 * Forwards the frames of a streamed `chat.completion.chunk` answer with `model` replaced.
 *
 * A frame that differs from an earlier one in its text only is handled as bytes. All others are parsed, and so is what
 * is malformed, holds an error, ends a choice or carries usage.
 */

import { randomBytes } from "node:crypto";
import type { TokenUsage } from "../../usage.ts";
import type { ForwardedEvent } from "../chat-proxy.ts";
import { type Chunk, ChunkReader, type ChunkReaderOptions, fromLatin1, toLatin1 } from "./chunk-reader.ts";
import type { FrameSink } from "./frame-sink.ts";
import { FrameTemplate, TEXT_KEYS } from "./frame-template.ts";
import { setValue } from "./json-text.ts";
import { UpstreamError } from "./upstream-error.ts";

const BYTES_PER_TOKEN = 4;

/** Choices that are streamed side by side have a template each. */
const MAX_TEMPLATES = 4;

export interface ChatFramesOptions extends ChunkReaderOptions {
  /** Shown as `model`. */
  model: string;
}

export class ChatFrames implements FrameSink<ForwardedEvent> {
  readonly #modelJson: string;
  readonly #reader: ChunkReader;
  /** Latest first. */
  #templates: FrameTemplate[] = [];
  #id: string | undefined;
  #created: number | undefined;
  #frameCount = 0;
  #textBytes = 0;
  failure: UpstreamError | undefined;

  constructor({ model, ...options }: ChatFramesOptions) {
    this.#modelJson = toLatin1(JSON.stringify(model));
    this.#reader = new ChunkReader(options);
  }

  /** One token a frame, or more where frames carry more text than a token. */
  get count(): number {
    return Math.max(this.#frameCount, Math.ceil(this.#textBytes / BYTES_PER_TOKEN));
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

  take(frames: string): ForwardedEvent[] {
    const rewritten = this.rewrite(frames);
    if (rewritten === "") return [];
    return [{ type: "frames", frames: Buffer.from(rewritten, "latin1"), completionTokens: this.count }];
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
        this.#frameCount += 1;
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

  /** The frame that reports `usage`, with the answer's own id and the upstream's own details. */
  usageFrame(usage: TokenUsage): Buffer {
    const data = {
      id: this.#id ?? newId(),
      object: "chat.completion.chunk",
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
      this.#textBytes += template.textBytes;
      return { rewritten, end: template.end };
    }
    return undefined;
  }

  #parse(frame: string): string {
    const chunk = this.#reader.read(frame);
    if (chunk === undefined) return "";
    if (chunk.choices.length > 0) {
      this.#frameCount += 1;
      this.#textBytes += textLengthOf(chunk.choices.map(deltaOf));
    }
    const rewritten = `data: ${this.#rename(chunk)}\n\n`;
    if (chunk.isPlain) this.#addTemplate(frame, rewritten);
    return rewritten;
  }

  /** Sets `model`, and `id` where it is missing. */
  #rename({ data, fields }: Chunk): string {
    if (typeof fields.created === "number") this.#created ??= fields.created;
    const renamed = setValue(data, "model", this.#modelJson);
    if (typeof fields.id === "string" && fields.id !== "") {
      this.#id ??= fields.id;
      return renamed;
    }
    this.#id ??= newId();
    return setValue(renamed, "id", toLatin1(JSON.stringify(this.#id)));
  }

  #addTemplate(frame: string, rewritten: string): void {
    const template = FrameTemplate.of(frame, rewritten);
    if (template !== undefined) this.#templates = [template, ...this.#templates.slice(0, MAX_TEMPLATES - 1)];
  }
}

/** Length of the strings under text keys, at whatever depth. */
function textLengthOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  let length = 0;
  for (const [key, each] of Object.entries(value)) {
    length += typeof each !== "string" ? textLengthOf(each) : TEXT_KEYS.has(key) ? each.length : 0;
  }
  return length;
}

/** Without log probabilities, which repeat the text. */
function deltaOf(choice: unknown): unknown {
  return typeof choice === "object" && choice !== null && "delta" in choice ? choice.delta : undefined;
}

function newId(): string {
  return `chatcmpl-${randomBytes(16).toString("hex")}`;
}
