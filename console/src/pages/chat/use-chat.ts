import { useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect, useMemo, useState, useSyncExternalStore } from "react";
import { chatStore } from "./chat-store.ts";
import { type Conversation, newConversation, type ToolResult, type Turn } from "./conversation.ts";
import { loadLastConversation } from "./stored-conversations.ts";
import type { Approval, McpToolName } from "./tools/service-tools.ts";

/** The same object while the conversation is. */
export interface ChatActions {
  change(part: Partial<Conversation>): void;
  /** Adds a turn and has it answered by every model. */
  ask(question: Pick<Turn, "text" | "images" | "files">): void;
  /** Answers the calls of the last answer, and has the model go on. */
  sendToolResults(results: ToolResult[]): void;
  /** Decides about calls that the last answer asks to make, and has the model go on. `allowed`: tools that ask no more. */
  decide(approvals: Approval[], allowed: McpToolName[]): void;
  /** Answers the turn again, with `text` in its place if given, in a branch beside it. */
  retry(turnId: string, text?: string): void;
  /** Shows the branch that stands `offset` places after that of a turn. */
  showBranch(turnId: string, offset: number): void;
  stop(): void;
  /** Continues a stored conversation. */
  open(id: string): void;
  /** Begins another one with the same models and parameters. */
  begin(): void;
  /** Deletes a stored conversation. */
  remove(id: string): void;
}

/** The same object while nothing of it changes. */
export interface Chat {
  conversation: Conversation;
  isRunning: boolean;
  actions: ChatActions;
}

/** The conversation that the address names, or the one that was stored last. */
export function useChat(): Chat {
  const { c, prompt } = useSearch({ strict: false }) as { c?: string; prompt?: string };
  const navigate = useNavigate();
  const [last] = useState(() => loadLastConversation());
  const id = c ?? last.id;
  const conversation = useSyncExternalStore(chatStore.subscribe, () => chatStore.get(id));
  const isRunning = useSyncExternalStore(chatStore.subscribe, () => chatStore.isRunning(id));
  // biome-ignore lint/correctness/useExhaustiveDependencies: an address without a conversation gets the last one's
  useEffect(() => {
    // That of a prompt begins another one.
    if (c === undefined && prompt === undefined) void navigate({ to: "/chat", search: { c: id }, replace: true });
  }, [c]);
  useEffect(() => () => chatStore.release(id), [id]);
  const actions = useMemo<ChatActions>(() => {
    const show = (next: string, replace = false) => void navigate({ to: "/chat", search: { c: next }, replace });
    const begin = (replace = false) => {
      const { models, parameters } = chatStore.get(id);
      const next = newConversation(models, parameters);
      chatStore.add(next);
      show(next.id, replace);
    };
    return {
      change: (part) => chatStore.change(id, part),
      ask: (question) => chatStore.ask(id, question),
      sendToolResults: (toolResults) => chatStore.ask(id, { toolResults }),
      decide: (approvals, allowed) => chatStore.decide(id, approvals, allowed),
      retry: (turnId, text) => chatStore.retry(id, turnId, text),
      showBranch: (turnId, offset) => chatStore.showBranch(id, turnId, offset),
      stop: () => chatStore.stop(id),
      open: (next) => show(next),
      begin: () => begin(),
      remove: (removed) => {
        chatStore.remove(removed);
        if (removed === id) begin(true);
      },
    };
  }, [id, navigate]);
  return useMemo(() => ({ conversation, isRunning, actions }), [conversation, isRunning, actions]);
}
