/** The contract of chat models that pass answers through in the caller's format, byte for byte where possible. */

import type { Fault } from "../kernel/faults.ts";
import type { TokenUsage } from "../kernel/usage.ts";
import type { AnswerText } from "./answer-text.ts";
import type { ContentMessage } from "./chat-content.ts";
import type { ChatModel, ChatRequest } from "./chat-model.ts";
import type { NativeFormat } from "./native-format.ts";

/**
 * A proxy for an upstream's chat model. Formats that the upstream supports are forwarded; others are rendered from
 * the typed events of `chat`, which are parsed from the upstream's stream.
 */
export interface ChatProxy extends ChatModel {
  /** Whether the upstream speaks the format of this body. */
  forwards(passThrough: PassThrough): boolean;
  /**
   * Forwards the caller's body and streams the bytes of the answer, ending with exactly one `finish`. `request` holds
   * the same in typed fields. Stops early, without throwing, once `signal` aborts. Throws a Fault: before the first event
   * when the request is refused, later when the upstream fails mid-answer.
   */
  forward(request: ChatRequest, passThrough: PassThrough, signal: AbortSignal): AsyncIterable<ForwardedEvent>;
}

/** A request in the caller's format, for upstreams that support it. */
export interface PassThrough {
  /** Undefined: chat completions, which every upstream speaks. */
  native?: NativeFormat;
  /** True for the body of a text completion, whose answers differ from chat completions in their choices only. */
  isTextCompletion?: boolean;
  body: Readonly<Record<string, unknown>>;
  /** True if the caller requested a stream. */
  stream: boolean;
  /** Fields of the body that the typed request leaves out, for models that do not get the body. */
  unsupportedLocally(): Fault | undefined;
  /** Upper bound of the UTF-8 bytes of text that a model reads from the body, without images. */
  promptBytes(): number;
  /** Reads and ends answers in this format, for moderation; undefined: a moderated answer is not forwarded. */
  readonly answerText?: AnswerText<ForwardedEvent>;
  /** Reads what an answer in this format says, for a recording of it. */
  contentOf(events: readonly ForwardedEvent[]): ForwardedContent;
}

export interface ForwardedContent {
  /** ID that the answer has for the caller. */
  id: string | undefined;
  /** One for each choice. */
  messages: readonly ContentMessage[];
}

export type ForwardedEvent =
  /**
   * Complete SSE frames of a streamed answer, `model` already replaced, without usage-only chunks and `[DONE]`.
   * `completionTokens` estimates the tokens generated since the start of the answer, one per frame.
   */
  | { type: "frames"; frames: Uint8Array; completionTokens: number }
  /**
   * End of the answer. After frames, `usageFrame` is the SSE frame that reports usage to callers who requested it, with
   * the answer's ID and the upstream's details. `completion` is the complete answer if it was not streamed.
   */
  | { type: "finish"; usage: TokenUsage; usageFrame?: Uint8Array | undefined; completion?: ForwardedCompletion };

/** A complete answer that was not streamed, `model` already replaced. */
export interface ForwardedCompletion {
  readonly fields: Readonly<Record<string, unknown>>;
  /** The same as JSON text from the upstream, which keeps its numbers unchanged. */
  readonly json: string;
}

export function isChatProxy(model: ChatModel): model is ChatProxy {
  return "forward" in model;
}
