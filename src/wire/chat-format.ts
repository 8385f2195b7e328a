/** What each client format of chats does: OpenAI's four and Ollama's two. One route serves all of them. */

import type { ChatCall } from "../contracts/chat-call.ts";
import type { ChatAnswerEvents } from "../contracts/chat-proxy.ts";
import type { CallerHeaders } from "../contracts/open-model.ts";
import type { RateLimitStatus } from "../kernel/faults.ts";
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
  /** Renders the last frame of a stream that failed. */
  errorFrame(failure: unknown, chat: Chat): string;
  /** Renders what a stream sends while its request waits, which the format's clients skip. */
  waitFrame(reason: string): string;
  /** Paths of fields without effect on this answer. */
  ignored(answer: FormatAnswer, chat: Chat): readonly string[];
  /** Headers of this format; `limits` is undefined while the request waits. */
  headers?(chat: Chat, limits: RateLimitStatus | undefined): Record<string, string>;
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

export type FormatAnswer = ChatAnswerEvents & {
  /** Catalog ID that answers. */
  model: string;
  /** Whether another service's model answers. */
  isUpstream: boolean;
  /** Complete once the events have ended. */
  moderation?: ModerationResults | undefined;
};

/** A comment in an event stream, which clients and proxies skip. */
export function waitComment(reason: string): string {
  return `: ${reason}\n\n`;
}
