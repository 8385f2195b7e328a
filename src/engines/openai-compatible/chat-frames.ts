/**
 * Passes on the frames of a streamed `chat.completion.chunk` answer with `model` replaced.
 *
 * A frame that differs from one before it in its text only is handled as bytes. All others are parsed, and so is what
 * is malformed, holds an error, ends a choice or carries usage.
 */

import { randomBytes } from "node:crypto";
import type { TokenUsage } from "../../usage.ts";
import { FrameShape } from "./frame-shape.ts";
import { setValue } from "./json-text.ts";
import { UpstreamError, upstreamErrorIn } from "./upstream-error.ts";
import { usageIn } from "./usage.ts";

/** Choices that are streamed side by side have a shape each. */
const MAX_SHAPES = 4;

export interface ChatFramesOptions {
  /** Shown as `model`. */
  model: string;
  /** How many choices were asked for; the answer has ended when each has. */
  choices: number;
  /** Whether each choice comes with a usage of its own, rather than one for all at the end. */
  usagePerChoice?: boolean;
}

export class ChatFrames {
  readonly #modelJson: string;
  readonly #choices: number;
  readonly #usagePerChoice: boolean;
  /** Latest first. */
  #shapes: FrameShape[] = [];
  #id: string | undefined;
  #created: number | undefined;
  /** By index: some upstreams tell the end of a choice again, with its usage. */
  readonly #endedChoices = new Set<unknown>();
  #usageObject: Record<string, unknown> | undefined;
  /** Frames with a part of the answer. */
  frameCount = 0;
  finishReason: string | undefined;
  /** The upstream has said `[DONE]`; what follows is not read. */
  isDone = false;
  /** What is wrong with the stream, found behind the frames that the last `rewrite` gave. */
  failure: UpstreamError | undefined;

  constructor(options: ChatFramesOptions) {
    this.#modelJson = toLatin1(JSON.stringify(options.model));
    this.#choices = options.choices;
    this.#usagePerChoice = options.usagePerChoice === true;
  }

  /** Whether each choice has ended; an answer that breaks off before is not whole. */
  get isComplete(): boolean {
    return this.isDone ? this.finishReason !== undefined : this.#endedChoices.size >= this.#choices;
  }

  get usage(): TokenUsage | undefined {
    return usageIn(this.#usageObject);
  }

  /** Frames as `SseFrames` cuts them, rewritten for the caller: one character for each byte, "" when none is to be passed on. */
  rewrite(frames: string): string {
    let out = "";
    let start = 0;
    while (start < frames.length && !this.isDone) {
      const alike = this.#passAlike(frames, start);
      if (alike !== undefined) {
        this.frameCount += 1;
        out += alike.rewritten;
        start = alike.end;
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

  /** The frame that tells `usage`, with the answer's own id and the upstream's own details. */
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
        : this.#usageObject,
    };
    return Buffer.from(`data: ${JSON.stringify(data)}\n\n`);
  }

  #passAlike(frames: string, start: number): { rewritten: string; end: number } | undefined {
    for (const shape of this.#shapes) {
      const rewritten = shape.rewrite(frames, start);
      if (rewritten !== undefined) return { rewritten, end: shape.end };
    }
    return undefined;
  }

  #parse(frame: string): string {
    const { event, data } = fieldsOf(frame);
    if (data === undefined) return "";
    if (data === "[DONE]") {
      this.isDone = true;
      return "";
    }
    const parsed = parseObject(fromLatin1(data));
    const error = upstreamErrorIn(parsed) ?? (event === "error" ? new UpstreamError("sent an error event") : undefined);
    if (error !== undefined) throw error;
    const choices = Array.isArray(parsed.choices) ? parsed.choices : [];
    let isPlain = choices.length > 0;
    for (const choice of choices) {
      const { index = 0, finish_reason: reason } = (choice ?? {}) as { index?: unknown; finish_reason?: unknown };
      if (typeof reason !== "string") continue;
      if (reason === "error") throw new UpstreamError("ended a choice with an error");
      this.finishReason = reason;
      // Some upstreams write it for "not yet".
      if (reason === "") continue;
      this.#endedChoices.add(index);
      isPlain = false;
    }
    if (usageIn(parsed.usage) !== undefined) {
      const usage = parsed.usage as Record<string, unknown>;
      this.#usageObject = this.#usagePerChoice ? withChoice(this.#usageObject, usage) : usage;
      if (choices.length === 0) return "";
      isPlain = false;
    }
    if (choices.length > 0) this.frameCount += 1;
    const rewritten = `data: ${this.#rename(data, parsed)}\n\n`;
    if (isPlain) this.#learn(frame, rewritten);
    return rewritten;
  }

  /** Sets `model`, and `id` where it is missing. */
  #rename(data: string, parsed: Record<string, unknown>): string {
    if (typeof parsed.created === "number") this.#created ??= parsed.created;
    const renamed = setValue(data, "model", this.#modelJson);
    if (typeof parsed.id === "string" && parsed.id !== "") {
      this.#id ??= parsed.id;
      return renamed;
    }
    this.#id ??= newId();
    return setValue(renamed, "id", toLatin1(JSON.stringify(this.#id)));
  }

  #learn(frame: string, rewritten: string): void {
    const shape = FrameShape.of(frame, rewritten);
    if (shape !== undefined) this.#shapes = [shape, ...this.#shapes.slice(0, MAX_SHAPES - 1)];
  }
}

function fieldsOf(frame: string): { event: string | undefined; data: string | undefined } {
  let event: string | undefined;
  let data: string | undefined;
  for (const line of frame.split("\n")) {
    const colon = line.indexOf(":");
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
    if (name === "event") event = value;
    // A space for the line end: in valid JSON both stand between values only.
    else if (name === "data") data = data === undefined ? value : `${data} ${value}`;
  }
  return { event, data: data?.trim() };
}

/** The prompt is the same for all choices. */
function withChoice(
  before: Record<string, unknown> | undefined,
  usage: Record<string, unknown>,
): Record<string, unknown> {
  if (before === undefined) return usage;
  const completionTokens = Number(before.completion_tokens) + Number(usage.completion_tokens);
  return {
    ...before,
    completion_tokens: completionTokens,
    total_tokens: Number(before.prompt_tokens) + completionTokens,
  };
}

function parseObject(text: string): Record<string, unknown> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    throw new UpstreamError("sent an event that is not JSON", { cause: error });
  }
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) {
    throw new UpstreamError("sent an event that is not a JSON object");
  }
  return parsed as Record<string, unknown>;
}

function newId(): string {
  return `chatcmpl-${randomBytes(16).toString("hex")}`;
}

function toLatin1(text: string): string {
  return Buffer.from(text).toString("latin1");
}

function fromLatin1(text: string): string {
  return Buffer.from(text, "latin1").toString();
}
