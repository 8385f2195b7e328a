/**
 * Passes on the frames of a streamed `chat.completion.chunk` answer with `model` replaced.
 *
 * A frame like the one before it is handled as text only. Parsed are frames that look otherwise, hold an error, end a
 * choice or carry usage.
 */

import { randomBytes } from "node:crypto";
import type { ChatUsage } from "../engine.ts";
import { findValue, setValue, skipSpace } from "./json-text.ts";
import { UpstreamError, upstreamErrorIn } from "./upstream-error.ts";
import { usageIn } from "./usage.ts";

const DATA = "data: ";

/** What frames of one answer have in common: all up to `model`'s value, or all from `model` on. */
interface FrameShape {
  /** Where the common part stands; llama-server writes `model` behind the choices. */
  at: "start" | "end";
  common: string;
  replacement: string;
  /** Last characters: a frame cut short rarely ends alike. */
  tail: string;
}

export interface ChatFramesOptions {
  /** Shown as `model`. */
  model: string;
  /** How many choices were asked for; the answer has ended when each has. */
  choices: number;
}

export class ChatFrames {
  readonly #modelJson: string;
  readonly #choices: number;
  #shape: FrameShape | undefined;
  #id: string | undefined;
  #created: number | undefined;
  #endedChoices = 0;
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
  }

  /** Whether each choice has ended; an answer that breaks off before is not whole. */
  get isComplete(): boolean {
    return this.isDone ? this.finishReason !== undefined : this.#endedChoices >= this.#choices;
  }

  get usage(): ChatUsage | undefined {
    return usageIn(this.#usageObject);
  }

  /** Frames as `SseFrames` cuts them, rewritten for the caller: one character for each byte, "" when none is to be passed on. */
  rewrite(frames: string): string {
    let nextError = indexOfKey(frames, '"error"', 0);
    let nextFinish = indexOfKey(frames, '"finish_reason"', 0);
    let nextUsage = indexOfKey(frames, '"usage"', 0);
    let out = "";
    let start = 0;
    while (start < frames.length && !this.isDone) {
      const lineEnd = frames.indexOf("\n", start);
      if (lineEnd === start) {
        start += 1;
        continue;
      }
      const isOneLine = frames.startsWith("\n", lineEnd + 1);
      const end = isOneLine ? lineEnd : frames.indexOf("\n\n", lineEnd);
      const isPlain = isOneLine && nextError > end && nextFinish > end && nextUsage > end;
      const passed = isPlain ? this.#passAlike(frames, start, end) : undefined;
      if (passed !== undefined) {
        this.frameCount += 1;
        out += passed;
      } else {
        try {
          out += this.#parse(frames.slice(start, end), isPlain);
        } catch (error) {
          if (!(error instanceof UpstreamError)) throw error;
          this.failure = error;
          return out;
        }
      }
      start = end + 2;
      if (nextError < start) nextError = indexOfKey(frames, '"error"', start);
      if (nextFinish < start) nextFinish = indexOfKey(frames, '"finish_reason"', start);
      if (nextUsage < start) nextUsage = indexOfKey(frames, '"usage"', start);
    }
    return out;
  }

  /** The frame that tells `usage`, with the answer's own id and the upstream's own details. */
  usageFrame(usage: ChatUsage): Buffer {
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
    return Buffer.from(`${DATA}${JSON.stringify(data)}\n\n`);
  }

  #passAlike(frames: string, start: number, end: number): string | undefined {
    const shape = this.#shape;
    if (shape === undefined) return undefined;
    if (shape.at === "start") {
      const isAlike = frames.startsWith(shape.common, start) && frames.startsWith(shape.tail, end - shape.tail.length);
      return isAlike ? shape.replacement + frames.slice(start + shape.common.length, end + 2) : undefined;
    }
    const common = end - shape.common.length;
    if (common < start || !frames.startsWith("data: {", start) || !frames.startsWith(shape.common, common)) {
      return undefined;
    }
    return `${frames.slice(start, common)}${shape.replacement}\n\n`;
  }

  #parse(frame: string, mayTeach: boolean): string {
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
    for (const choice of choices) {
      const reason = (choice as { finish_reason?: unknown } | null)?.finish_reason;
      if (typeof reason !== "string") continue;
      if (reason === "error") throw new UpstreamError("ended a choice with an error");
      this.finishReason = reason;
      this.#endedChoices += 1;
    }
    if (usageIn(parsed.usage) !== undefined) {
      this.#usageObject = parsed.usage as Record<string, unknown>;
      if (choices.length === 0) return "";
    }
    if (choices.length > 0) this.frameCount += 1;
    return `${DATA}${this.#rename(data, parsed, mayTeach && frame.startsWith("data: {"))}\n\n`;
  }

  /** Sets `model`, and `id` where it is missing, and learns what further frames will look like. */
  #rename(data: string, parsed: Record<string, unknown>, mayTeach: boolean): string {
    if (typeof parsed.created === "number") this.#created ??= parsed.created;
    const hasId = typeof parsed.id === "string" && parsed.id !== "";
    if (hasId) this.#id ??= parsed.id as string;
    let renamed = setValue(data, "model", this.#modelJson);
    if (!hasId) {
      this.#id ??= newId();
      renamed = setValue(renamed, "id", toLatin1(JSON.stringify(this.#id)));
    }
    if (mayTeach && hasId) this.#learn(data);
    return renamed;
  }

  #learn(data: string): void {
    const model = findValue(data, "model");
    const choices = findValue(data, "choices");
    this.#shape = undefined;
    if (model === undefined || choices === undefined) return;
    const tail = data.slice(-2);
    if (model.end < choices.start) {
      const before = data.slice(0, model.start);
      this.#shape = {
        at: "start",
        common: DATA + data.slice(0, model.end),
        replacement: DATA + before + this.#modelJson,
        tail,
      };
    } else if (choices.end < model.keyStart) {
      const key = data.slice(model.keyStart, model.start);
      const common = data.slice(model.keyStart);
      this.#shape = { at: "end", common, replacement: key + this.#modelJson + data.slice(model.end), tail };
    }
  }
}

/** Where `key`, in quotes, is a key whose value is not null; Infinity when nowhere. In a string its quotes would be escaped. */
function indexOfKey(text: string, key: string, from: number): number {
  for (let at = text.indexOf(key, from); at !== -1; at = text.indexOf(key, at + key.length)) {
    const colon = skipSpace(text, at + key.length);
    if (text[colon] === ":" && !text.startsWith("null", skipSpace(text, colon + 1))) return at;
  }
  return Number.POSITIVE_INFINITY;
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
