/** Adapters by which moderation reads and ends an answer, for typed events and for forwarded bytes. */

import type { ChatEvent } from "../../contracts/chat-model.ts";
import type { ForwardedAnswers, ForwardedEvent, TextDelta } from "../../contracts/chat-proxy.ts";
import type { TokenUsage } from "../../kernel/usage.ts";

export interface ModeratedForm<Event extends { type: string }> {
  textsOf(event: Event): readonly TextDelta[];
  /** The choices that end with this event. */
  endedIn(event: Event): readonly number[];
  /** Returns the events that replace held ones when the `open` choices are blocked. */
  endBlocked(held: readonly Event[], open: readonly number[]): readonly Event[];
  /** Returns `event`, the regular end of the answer, without its text. */
  withoutText(event: Event): Event;
  /** Returns the last event of a stopped answer. */
  finish(usage: TokenUsage): Event;
}

export const typedForm: ModeratedForm<ChatEvent> = {
  textsOf(event) {
    switch (event.type) {
      case "text":
      case "reasoning":
        return [{ ...event, part: event.type }];
      case "tool-arguments":
        return [{ ...event, part: `arguments ${event.index}` }];
      default:
        return [];
    }
  },
  endedIn: (event) => (event.type === "choice-end" ? [event.choice] : []),
  endBlocked: (held, open) => [
    ...held.filter(({ type }) => type === "start"),
    ...open.map((choice) => ({ type: "choice-end", choice, reason: "content_filter" }) as const),
  ],
  withoutText: (event) => event,
  finish: (usage) => ({ type: "finish", usage }),
};

/** Reads and ends answers that an upstream streams as bytes, with the rules of their wire format. */
export function forwardedForm(answers: ForwardedAnswers): ModeratedForm<ForwardedEvent> {
  return {
    textsOf(event) {
      if (event.type === "frames") return answers.textsOfFrames(event.frames);
      return event.completion === undefined ? [] : answers.textsOfCompletion(event.completion);
    },
    endedIn: (event) => (event.type === "frames" ? answers.endedIn(event.frames) : []),
    endBlocked(held, open) {
      const last = held.findLast((event) => event.type === "frames");
      return last === undefined ? [] : [{ ...last, frames: answers.endBlocked(last.frames, open) }];
    },
    withoutText(event) {
      if (event.type === "frames" || event.completion === undefined) return event;
      return { ...event, completion: answers.emptyBlocked(event.completion) };
    },
    finish: (usage) => ({ type: "finish", usage }),
  };
}
