import type { AnswerText } from "../../contracts/answer-text.ts";
import type { ChatEvent } from "../../contracts/chat-model.ts";

/** Reads and ends the text of typed events. */
export const typedText: AnswerText<ChatEvent> = {
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
