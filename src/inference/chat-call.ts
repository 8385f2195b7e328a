/** What a chat run is given and what it gives: the one place where typed events and forwarded bytes meet. */

import type { ChatDefaults, ChatEvent, ChatModel, ChatRequest } from "../engines/chat-model.ts";
import {
  type ChatAnswerEvents,
  type ChatProxy,
  type ForwardedEvent,
  isChatProxy,
  type PassThrough,
} from "../engines/chat-proxy.ts";
import type { Fault } from "../faults.ts";
import type { ChatModerationResult } from "./chat-moderation-result.ts";
import type { InferenceAnswer } from "./inference-answer.ts";

export interface ChatCall {
  request: ChatRequest;
  /** The same in the caller's own format, for upstreams that speak it. */
  passThrough?: PassThrough;
  /** What of the request a moderation model judges, and what in it cannot be judged. */
  /** The call with a model's defaults in the fields that the caller left out. */
  withDefaults?(defaults: ChatDefaults): ChatCall;
  moderationInput(): { texts: readonly string[]; unjudgeable: Fault | undefined };
}

export type ChatRunEvent = ChatEvent | ForwardedEvent;

export type ChatAnswer = Omit<InferenceAnswer<ChatModel, never>, "events"> &
  ChatAnswerEvents & {
    /** What moderation found, where the caller is to see it; read it once `events` are over. */
    moderation?: ChatModerationResult | undefined;
  };

/** The model as a proxy where it forwards this call; undefined where it answers with typed events. */
export function forwarderOf(
  { passThrough }: ChatCall,
  model: ChatModel,
): { proxy: ChatProxy; passThrough: PassThrough } | undefined {
  return passThrough !== undefined && isChatProxy(model) ? { proxy: model, passThrough } : undefined;
}

/** Which form the events have is decided by the deployment that answers, which may be a fallback's. */
export function toChatAnswer(call: ChatCall, answer: InferenceAnswer<ChatModel, ChatRunEvent>): ChatAnswer {
  const { events, ...facts } = answer;
  return forwarderOf(call, answer.opened) === undefined
    ? { ...facts, form: "typed", events: events as AsyncIterable<ChatEvent> }
    : { ...facts, form: "forwarded", events: events as AsyncIterable<ForwardedEvent> };
}
