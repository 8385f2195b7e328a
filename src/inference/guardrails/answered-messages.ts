/** Which messages of a chat a model has answered, as far as the caller who writes it says so. */

import type { ChatMessage } from "../../contracts/chat-message.ts";

type Role = ChatMessage["role"];

/**
 * Returns the messages up to the last answer that the user has replied to. What the user has said since is new until then,
 * also while tools run; results of tools are new until the model has gone on. An answer that nothing follows is one that
 * the caller has begun.
 */
export function answeredMessages(messages: readonly ChatMessage[]): ReadonlySet<ChatMessage> {
  const lastAnswer = (...followers: Role[]) => {
    const follower = messages.findLastIndex(({ role }) => followers.includes(role));
    return messages.findLastIndex(({ role }, index) => role === "assistant" && index < follower);
  };
  const turn = lastAnswer("user");
  const step = lastAnswer("user", "tool");
  return new Set(messages.filter(({ role }, index) => index <= turn || (index <= step && role !== "user")));
}
