import { newTurn } from "../chat/chat-body.ts";
import { type Answer, type Conversation, NO_PARAMETERS, newConversation } from "../chat/conversation.ts";
import type { RecordedMessage } from "./requests-api.ts";

/** Begins a conversation with the messages of a recorded prompt; tool calls and images stay out. */
export function toConversation(model: string, messages: readonly RecordedMessage[]): Conversation {
  const system = messages.filter(({ role }) => role === "system" || role === "developer").map(textOf);
  const conversation = newConversation([model], { ...NO_PARAMETERS, system: system.join("\n\n") });
  for (const message of messages) {
    if (message.role === "user") conversation.turns.push(newTurn(textOf(message)));
    if (message.role === "assistant") conversation.turns.at(-1)?.answers.splice(0, 1, toAnswer(model, textOf(message)));
  }
  return conversation;
}

export function textOf({ parts }: RecordedMessage): string {
  return parts.flatMap((part) => (part.type === "text" ? part.content : [])).join("");
}

function toAnswer(model: string, text: string): Answer {
  return { model, text, alternatives: [], reasoning: "", toolCalls: [], state: "done" };
}
