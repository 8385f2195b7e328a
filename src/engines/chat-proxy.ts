/** The contract of chat models that pass an answer on in the caller's own format, byte for byte where they can. */

import type { Fault } from "../faults.ts";
import type { TokenUsage } from "../usage.ts";
import type { ChatEvent, ChatModel, ChatRequest } from "./chat-model.ts";

/**
 * A chat model that stands for an upstream. Formats that the upstream speaks are forwarded; any other is rendered from
 * the typed events of `chat`, which are read from the upstream's chat stream.
 */
export interface ChatProxy extends ChatModel {
  /**
   * Forwards the caller's own body and streams the bytes of the answer, ending with exactly one `finish`. `request` says
   * the same in typed fields. Stops early, without throwing, once `signal` aborts. Throws a Fault: before the first event
   * when the request is refused, later when the upstream fails mid-answer.
   */
  forward(request: ChatRequest, passThrough: PassThrough, signal: AbortSignal): AsyncIterable<ForwardedEvent>;
}

/** A request in the caller's own format, for upstreams that speak it. */
export interface PassThrough {
  body: Readonly<Record<string, unknown>>;
  /** Whether the answer is asked for as a stream. */
  stream: boolean;
  /** What of the body the typed request leaves out, for models that are not forwarded to. */
  unsupportedLocally(): Fault | undefined;
  /** Upper bound of the UTF-8 bytes that a model reads of the body, images left out. */
  promptBytes(): number;
  /** Reads and rewrites answers in this format, for moderation. */
  readonly answers: ForwardedAnswers;
}

export type ForwardedEvent =
  /**
   * Complete SSE frames of a streamed answer, `model` already replaced, without usage-only chunks and `[DONE]`.
   * `completionTokens` estimates, one a frame, what was generated since the answer's beginning.
   */
  | { type: "frames"; frames: Uint8Array; completionTokens: number }
  /**
   * The end. After frames, `usageFrame` is the SSE frame that reports usage to callers who asked for it, with the answer's
   * id and the upstream's own details. `completion` is the complete answer where it was not streamed.
   */
  | { type: "finish"; usage: TokenUsage; usageFrame?: Uint8Array | undefined; completion?: ForwardedCompletion };

/** A complete answer that was not streamed, `model` already replaced. */
export interface ForwardedCompletion {
  readonly fields: Readonly<Record<string, unknown>>;
  /** The same as JSON: the upstream's own text, so numbers stay as it wrote them. */
  readonly json: string;
}

/** A piece of what one choice of an answer says, thinks or hands to a tool. */
export interface TextDelta {
  choice: number;
  /** Which of these it is: the pieces of each are one text. */
  part: string;
  text: string;
}

export interface ForwardedAnswers {
  textsOfFrames(frames: Uint8Array): readonly TextDelta[];
  /** The choices that end in these frames. */
  endedIn(frames: Uint8Array): readonly number[];
  textsOfCompletion(completion: ForwardedCompletion): readonly TextDelta[];
  /** A frame that ends these choices of the stream which `frames` are part of. */
  endBlocked(frames: Uint8Array, choices: readonly number[]): Uint8Array;
  /** The completion without its text. */
  emptyBlocked(completion: ForwardedCompletion): ForwardedCompletion;
}

/** An answer as inference returns it: typed events, or bytes in the caller's own format. */
export type ChatAnswerEvents =
  | { form: "typed"; events: AsyncIterable<ChatEvent> }
  | { form: "forwarded"; events: AsyncIterable<ForwardedEvent> };

export function isChatProxy(model: ChatModel): model is ChatProxy {
  return "forward" in model;
}
