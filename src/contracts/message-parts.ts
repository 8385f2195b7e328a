/** Joins the pieces of an answer to messages, one for each choice. */

import type { ContentMessage, ContentPart } from "./chat-content.ts";

/** In UTF-16 code units over all choices; the rest of a longer answer is dropped. */
export const MAX_ANSWER_LENGTH = 1024 * 1024;

interface Choice {
  parts: Map<string, ContentPart>;
  reason: string | undefined;
}

export class MessageParts {
  readonly #choices = new Map<number, Choice>();
  #length = 0;

  /** Appends to the part with this key, which begins as `empty`. */
  append(choice: number, key: string, text: string, empty: ContentPart): void {
    const { parts } = this.#choiceOf(choice);
    const part = parts.get(key) ?? empty;
    const piece = text.slice(0, MAX_ANSWER_LENGTH - this.#length);
    this.#length += piece.length;
    if (part.type === "tool_call") part.arguments += piece;
    else if ("content" in part) part.content += piece;
    parts.set(key, part);
  }

  end(choice: number, reason: string): void {
    this.#choiceOf(choice).reason = reason;
  }

  messages(): ContentMessage[] {
    return [...this.#choices.values()].map(({ parts, reason }) => ({
      role: "assistant",
      parts: [...parts.values()],
      finish_reason: reason,
    }));
  }

  #choiceOf(choice: number): Choice {
    const existing = this.#choices.get(choice);
    if (existing !== undefined) return existing;
    const created = { parts: new Map<string, ContentPart>(), reason: undefined };
    this.#choices.set(choice, created);
    return created;
  }
}
