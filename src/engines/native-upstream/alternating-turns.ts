/** Messages of two sides in turn. */

import type { ChatMessage } from "../../contracts/chat-message.ts";

export interface Turn<Block> {
  role: "assistant" | "user";
  content: Block[];
}

/** Renders the blocks of a message. */
type ToBlocks<Block> = (message: ChatMessage) => Block[];

/** Joins messages of one side: turns have to alternate, and results of calls to follow them in one message. */
export function toTurns<Block>(
  messages: readonly ChatMessage[],
  { assistant, user }: { assistant: ToBlocks<Block>; user: ToBlocks<Block> },
): Turn<Block>[] {
  const turns: Turn<Block>[] = [];
  for (const message of messages) {
    const role = message.role === "assistant" ? "assistant" : "user";
    const blocks = role === "assistant" ? assistant(message) : user(message);
    const last = turns.at(-1);
    if (last?.role === role) last.content.push(...blocks);
    else if (blocks.length > 0) turns.push({ role, content: blocks });
  }
  return turns;
}
