/** Input and output of a chat run, where typed events and forwarded bytes meet. */

import type { ChatCall } from "../contracts/chat-call.ts";
import type { ChatEvent, ChatModel } from "../contracts/chat-model.ts";
import {
  type ChatAnswerEvents,
  type ChatProxy,
  type ForwardedEvent,
  isChatProxy,
  type PassThrough,
} from "../contracts/chat-proxy.ts";
import type { InferenceAnswer } from "./inference-answer.ts";
import type { ChatModerationResult } from "./moderation/chat-moderation-result.ts";

/** Returns the number of choices over all prompts. */
export function choicesOf({ request, prompts = [] }: Pick<ChatCall, "request" | "prompts">): number {
  return request.choices * Math.max(1, prompts.length);
}

export type ChatRunEvent = ChatEvent | ForwardedEvent;

export type ChatAnswer = Omit<InferenceAnswer<never>, "events"> &
  ChatAnswerEvents & {
    /** Moderation result, if the caller sees it; complete once `events` have ended. */
    moderation?: ChatModerationResult | undefined;
  };

/** Returns the model as a proxy if it forwards this call; undefined if it answers with typed events. */
export function forwarderOf(
  { passThrough }: ChatCall,
  model: ChatModel,
): { proxy: ChatProxy; passThrough: PassThrough } | undefined {
  if (passThrough === undefined || !isChatProxy(model) || !model.forwards(passThrough)) return undefined;
  return { proxy: model, passThrough };
}

/** Converts the answer; the deployment that answers, possibly a fallback's, determines the form of the events. */
export function toChatAnswer(answer: InferenceAnswer<ChatRunEvent>): ChatAnswer {
  const { events, ...facts } = answer;
  return !answer.isForwarded
    ? { ...facts, form: "typed", events: events as AsyncIterable<ChatEvent> }
    : { ...facts, form: "forwarded", events: events as AsyncIterable<ForwardedEvent> };
}
