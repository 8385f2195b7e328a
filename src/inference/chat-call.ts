/** Input and output of a chat run. Bytes of a proxy pass through it unread. */

import type { ChatCall } from "../contracts/chat-call.ts";
import type { ChatEvent, ChatModel } from "../contracts/chat-model.ts";
import { type ChatProxy, type ForwardedEvent, isChatProxy, type PassThrough } from "../contracts/chat-proxy.ts";
import type { InferenceAnswer } from "./inference-answer.ts";
import type { ChatModerationResult } from "./moderation/chat-moderation-result.ts";

/** Returns the number of choices over all prompts. */
export function choicesOf({ request, prompts = [] }: Pick<ChatCall, "request" | "prompts">): number {
  return request.choices * Math.max(1, prompts.length);
}

export type ChatRunEvent = ChatEvent | ForwardedEvent;

export interface ChatAnswer extends InferenceAnswer<ChatEvent> {
  /** The answer in the caller's format, from an upstream that speaks it; `events` cannot be read then. */
  bytes?: AsyncIterable<ForwardedEvent>;
  /** Moderation result, if the caller sees it; complete once the answer has ended. */
  moderation?: ChatModerationResult | undefined;
}

/** Returns the model as a proxy if it forwards this call; undefined if it answers with typed events. */
export function forwarderOf(
  { passThrough }: ChatCall,
  model: ChatModel,
): { proxy: ChatProxy; passThrough: PassThrough } | undefined {
  if (passThrough === undefined || !isChatProxy(model) || !model.forwards(passThrough)) return undefined;
  return { proxy: model, passThrough };
}

/** Converts the answer; the deployment that answers, possibly a fallback's, determines whether it consists of bytes. */
export function toChatAnswer({ events, ...answer }: InferenceAnswer<ChatRunEvent>): ChatAnswer {
  return answer.isForwarded
    ? { ...answer, events: UNREADABLE, bytes: events as AsyncIterable<ForwardedEvent> }
    : { ...answer, events: events as AsyncIterable<ChatEvent> };
}

const UNREADABLE: AsyncIterable<ChatEvent> = {
  [Symbol.asyncIterator]() {
    throw new Error("The answer consists of bytes, because the call had a body to pass on.");
  },
};
