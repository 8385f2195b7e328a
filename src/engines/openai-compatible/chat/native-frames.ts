/** Forwards the events of a stream in an upstream's own format, with what concerns this service rewritten. */

import type { ForwardedEvent } from "../../../contracts/chat-proxy.ts";
import { NativeError, type NativeReader } from "../../../contracts/native-format.ts";
import type { TokenUsage } from "../../../kernel/usage.ts";
import { fromLatin1, readFrame, SseFrames, toLatin1 } from "../connection/sse-frames.ts";
import { UpstreamError } from "../upstream-error.ts";
import { CompletionEstimate } from "./completion-estimate.ts";
import { type FrameSink, MAX_FRAME_BYTES } from "./frame-sink.ts";

type Fields = Record<string, unknown>;

export class NativeFrames implements FrameSink<ForwardedEvent> {
  readonly #sse = new SseFrames(MAX_FRAME_BYTES);
  readonly #reader: NativeReader;
  readonly #estimate = new CompletionEstimate();
  /** The last event, which comes with the finish. */
  #last: Fields | undefined;
  failure: UpstreamError | undefined;

  constructor(reader: NativeReader) {
    this.#reader = reader;
  }

  get isDone(): boolean {
    return this.#last !== undefined;
  }

  get isComplete(): boolean {
    return this.#last !== undefined;
  }

  get usage(): TokenUsage | undefined {
    return this.#reader.usage;
  }

  get estimatedTokens(): number {
    return this.#estimate.tokens;
  }

  take(chunks: readonly Buffer[]): ForwardedEvent[] | undefined {
    const frames = this.#sse.pushAll(chunks);
    if (frames === "") return undefined;
    let out = "";
    for (const frame of frames.split("\n\n")) {
      if (frame.trim() === "" || this.isDone) continue;
      try {
        out += this.#rewrite(frame);
      } catch (error) {
        this.failure = toUpstreamError(error);
        break;
      }
    }
    if (out === "") return [];
    return [{ type: "frames", frames: Buffer.from(out, "latin1"), completionTokens: this.estimatedTokens }];
  }

  finish(usage: TokenUsage): ForwardedEvent[] {
    const fields = this.#last ?? {};
    return [{ type: "finish", usage, completion: { fields, json: JSON.stringify(fields) } }];
  }

  /** Returns the frame for the caller, "" for the last one. Comments, such as pings, pass. */
  #rewrite(frame: string): string {
    const { data } = readFrame(frame);
    if (data === undefined) return `${frame}\n\n`;
    if (data === "[DONE]") return "";
    const event = parseObject(fromLatin1(data));
    const { isChanged, isLast, textBytes } = this.#reader.readEvent(event);
    if (textBytes > 0) this.#estimate.addFrame(textBytes);
    if (isLast) {
      this.#last = event;
      return "";
    }
    if (!isChanged) return `${frame}\n\n`;
    return `event: ${String(event.type)}\ndata: ${toLatin1(JSON.stringify(event))}\n\n`;
  }
}

/** Converts the failure that an answer reports. */
export function toUpstreamError(error: unknown): UpstreamError {
  if (error instanceof UpstreamError) return error;
  if (!(error instanceof NativeError)) throw error;
  return new UpstreamError("answered with an error", { message: error.message, code: error.code });
}

/** Parses a JSON object. Throws an UpstreamError. */
export function parseObject(json: string): Fields {
  try {
    const value: unknown = JSON.parse(json);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Fields;
  } catch (cause) {
    throw new UpstreamError("answered with something other than JSON", { cause });
  }
  throw new UpstreamError("answered with something other than a JSON object");
}
