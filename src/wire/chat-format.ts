/** What each client format of chats does: OpenAI's four and Ollama's two. One route serves all of them. */

import type { ChatCall } from "../contracts/chat-call.ts";
import type { ChatEvent } from "../contracts/chat-model.ts";
import type { ForwardedEvent } from "../contracts/chat-proxy.ts";
import type { CallerHeaders } from "../contracts/open-model.ts";
import type { RateLimitStatus } from "../kernel/faults.ts";
import type { AnswerIdentity } from "./answer-identity.ts";
import type { ModerationResults, toChatModerationRequest } from "./openai/chat/chat-moderation.ts";
import type { UnknownFieldsPolicy } from "./openai/unknown-fields.ts";

export interface ChatFormat<Context extends FormatContext, Chat extends FormatChat> {
  /** Content type of streams; default: server-sent events. */
  readonly streamType?: string;
  /** Reads a body. Throws a Fault for one that is not valid. */
  read(body: unknown, context: Context): Chat;
  /** Throws a Fault for what no model can answer. */
  call(chat: Chat): ChatCall;
  /** Returns the complete answer, as JSON or as an object; {} if the client has disconnected. */
  answer(answer: FormatAnswer, chat: Chat): Promise<string | object>;
  /** Yields the frames of a stream, each complete. Throws failures, which `errorFrame` renders. */
  frames(answer: FormatAnswer, chat: Chat): AsyncIterable<string | Uint8Array>;
  /** The same for bytes of an upstream that speaks this format; left out: its calls have no body to pass on. */
  readonly forwarded?: {
    answer(bytes: AsyncIterable<ForwardedEvent>, answer: FormatAnswer, chat: Chat): Promise<string | object>;
    frames(bytes: AsyncIterable<ForwardedEvent>, answer: FormatAnswer, chat: Chat): AsyncIterable<string | Uint8Array>;
  };
  /** Renders the last frame of a stream that failed. */
  errorFrame(failure: unknown, chat: Chat): string;
  /** Renders what a stream sends while its request waits, which the format's clients skip. */
  waitFrame(reason: string, chat: Chat): string;
  /** Paths of fields without effect on an answer that was not forwarded. */
  ignored(answer: FormatAnswer, chat: Chat): readonly string[];
  /** Paths of fields that this service removes without effect before it forwards the body, as from other bodies. */
  removed?(chat: Chat): readonly string[];
  /** Headers of this format; `limits` is undefined while the request waits. */
  headers?(chat: Chat, limits: RateLimitStatus | undefined): Record<string, string>;
  /** Returns the chat with a shorter prompt, after one that did not fit the context window; undefined: it fails. */
  shorten?(chat: Chat): Chat | undefined;
  /** Throws the failure of a model in the format's terms. */
  fail?(failure: unknown, chat: Chat): never;
}

export interface FormatContext {
  callerHeaders: CallerHeaders;
  unknownFields: UnknownFieldsPolicy;
  requestId: string;
}

/** One chat in a format: what the route needs to know of it. */
export interface FormatChat {
  /** As the caller wrote it. */
  model: string;
  isStreamed: boolean;
  requestId: string;
  moderation?: ReturnType<typeof toChatModerationRequest> | undefined;
}

export interface FormatAnswer extends AnswerIdentity {
  events: AsyncIterable<ChatEvent>;
  /** The answer in the caller's format, in place of `events`. */
  bytes?: AsyncIterable<ForwardedEvent>;
  /** Whether another service's model answers. */
  isUpstream: boolean;
  /** Complete once the events have ended. */
  moderation?: ModerationResults | undefined;
}

type Renders<Chat extends FormatChat> = Pick<
  ChatFormat<never, Chat>,
  "answer" | "frames" | "forwarded" | "ignored" | "removed"
>;

export function renderAnswer<Chat extends FormatChat>(format: Renders<Chat>, answer: FormatAnswer, chat: Chat) {
  const { bytes } = answer;
  return bytes === undefined ? format.answer(answer, chat) : forwardedOf(format).answer(bytes, answer, chat);
}

export function renderFrames<Chat extends FormatChat>(format: Renders<Chat>, answer: FormatAnswer, chat: Chat) {
  const { bytes } = answer;
  return bytes === undefined ? format.frames(answer, chat) : forwardedOf(format).frames(bytes, answer, chat);
}

/** Returns the paths of fields without effect. An upstream that got the body received every other field. */
export function ignoredBy<Chat extends FormatChat>(format: Renders<Chat>, answer: FormatAnswer, chat: Chat) {
  const removed = format.removed?.(chat) ?? [];
  return answer.bytes === undefined ? [...format.ignored(answer, chat), ...removed] : removed;
}

function forwardedOf<Chat extends FormatChat>({ forwarded }: Renders<Chat>) {
  if (forwarded === undefined) throw new Error("A call without a body to pass on was forwarded.");
  return forwarded;
}

/** A comment in an event stream, which clients and proxies skip. */
export function waitComment(reason: string): string {
  return `: ${reason}\n\n`;
}
