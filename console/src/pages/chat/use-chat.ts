import { useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect, useState, useSyncExternalStore } from "react";
import { chatStore } from "./chat-store.ts";
import { type Conversation, newConversation, type ToolResult } from "./conversation.ts";
import { loadLastConversation } from "./stored-conversations.ts";

export interface Chat {
  conversation: Conversation;
  isRunning: boolean;
  change(part: Partial<Conversation>): void;
  /** Adds a turn and has it answered by every model. */
  ask(text: string, images: string[]): void;
  /** Answers the calls of the last answer, and has the model go on. */
  sendToolResults(results: ToolResult[]): void;
  /** Answers the turn again, with `text` in its place if given; drops all later turns. */
  retry(turnId: string, text?: string): void;
  stop(): void;
  /** Continues a stored conversation. */
  open(id: string): void;
  /** Begins another one with the same models and parameters. */
  begin(): void;
  /** Deletes a stored conversation. */
  remove(id: string): void;
}

/** The conversation that the address names, or the one that was stored last. */
export function useChat(): Chat {
  const { c } = useSearch({ strict: false }) as { c?: string };
  const navigate = useNavigate();
  const [last] = useState(() => loadLastConversation());
  const id = c ?? last.id;
  const conversation = useSyncExternalStore(chatStore.subscribe, () => chatStore.get(id));
  const isRunning = useSyncExternalStore(chatStore.subscribe, () => chatStore.isRunning(id));
  const show = (next: string, replace = false) => void navigate({ to: "/chat", search: { c: next }, replace });
  // biome-ignore lint/correctness/useExhaustiveDependencies: an address without a conversation gets the last one's
  useEffect(() => {
    if (c === undefined) show(id, true);
  }, [c]);
  useEffect(() => () => chatStore.release(id), [id]);
  const begin = (replace = false) => {
    const next = newConversation(conversation.models, conversation.parameters);
    chatStore.add(next);
    show(next.id, replace);
  };
  return {
    conversation,
    isRunning,
    change: (part) => chatStore.change(id, part),
    ask: (text, images) => chatStore.ask(id, { text, images }),
    sendToolResults: (toolResults) => chatStore.ask(id, { toolResults }),
    retry: (turnId, text) => chatStore.retry(id, turnId, text),
    stop: () => chatStore.stop(id),
    open: (next) => show(next),
    begin: () => begin(),
    remove: (removed) => {
      chatStore.remove(removed);
      if (removed === id) begin(true);
    },
  };
}
