/** How moderation reads and ends an answer, in each of the two forms that its events have. */

import type { ChatEvent } from "../engines/chat-model.ts";
import type { ForwardedAnswers, ForwardedEvent, TextDelta } from "../engines/chat-proxy.ts";
import type { TokenUsage } from "../usage.ts";

export interface ModeratedForm<Event extends { type: string }> {
  textsOf(event: Event): readonly TextDelta[];
  /** The choices that end with this event. */
  endedIn(event: Event): readonly number[];
  /** What is shown in place of held events when the `open` choices are blocked. */
  endBlocked(held: readonly Event[], open: readonly number[]): readonly Event[];
  /** `event`, which ended the answer by itself, without any text. */
  withoutText(event: Event): Event;
  /** The end of an answer that was stopped. */
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
