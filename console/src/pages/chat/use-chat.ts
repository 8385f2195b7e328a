import { useSearch } from "@tanstack/react-router";
import { useEffect, useMemo, useState, useSyncExternalStore } from "react";
import { chatStore } from "./chat-store.ts";
import { chatSync } from "./chat-sync.ts";
import { type Conversation, newConversation, type ToolResult, type Turn } from "./conversation.ts";
import type { SyncState } from "./sync-state.ts";
import type { Approval, McpToolName } from "./tools/service-tools.ts";
import { useChatAddress } from "./use-chat-address.ts";

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
  /** Has the model go on with its last answer where it ended. */
  continue(turnId: string, column: number): void;
  /** Writes another text in place of an answer, in a branch beside it. */
  editAnswer(turnId: string, column: number, text: string): void;
  /** Shows the branch that stands `offset` places after that of a turn. */
  showBranch(turnId: string, offset: number): void;
  stop(): void;
  /** Continues a stored conversation. */
  open(id: string): void;
  /** Begins another one with the same models and parameters. */
  begin(): void;
  /** Deletes a stored conversation, and returns how to undo it. */
  remove(id: string): () => void;
}

/** The same object while nothing of it changes. */
export interface Chat {
  conversation: Conversation;
  isRunning: boolean;
  /** Whether its turns are still being read from the server. */
  isLoading: boolean;
  /** Why it stays in this browser; undefined: the server has it, or will. */
  problem: string | undefined;
  actions: ChatActions;
}

/** The state of the conversations of whoever is signed in. */
export function useChatSync(): SyncState {
  useEffect(() => chatSync.start());
  return useSyncExternalStore(chatSync.subscribe, chatSync.state);
}

/** The conversation that the address names, or the one that was stored last. */
export function useChat(): Chat {
  const { c, prompt } = useSearch({ strict: false }) as { c?: string; prompt?: string };
  const show = useChatAddress();
  const [last] = useState(() => chatStore.stored.last());
  const id = c ?? last.id;
  const conversation = useSyncExternalStore(chatStore.subscribe, () => chatStore.get(id));
  const isRunning = useSyncExternalStore(chatStore.subscribe, () => chatStore.isRunning(id));
  const { entries, loading, problems } = useChatSync();
  // biome-ignore lint/correctness/useExhaustiveDependencies: reads what the list of the server names
  useEffect(() => void chatSync.open(id), [id, entries]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: an address without a conversation gets the last one's
  useEffect(() => {
    // That of a prompt begins another one.
    if (c === undefined && prompt === undefined) show(id, true);
  }, [c]);
  useEffect(() => () => chatStore.release(id), [id]);
  const actions = useMemo<ChatActions>(() => {
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
      continue: (turnId, column) => chatStore.continue(id, turnId, column),
      editAnswer: (turnId, column, text) => chatStore.editAnswer(id, turnId, column, text),
      showBranch: (turnId, offset) => chatStore.showBranch(id, turnId, offset),
      stop: () => chatStore.stop(id),
      open: (next) => show(next),
      begin: () => begin(),
      remove: (removed) => {
        const undo = removeConversation(removed);
        if (removed === id) begin(true);
        return undo;
      },
    };
  }, [id, show]);
  const isLoading = loading.has(id);
  const problem = problems.get(id);
  return useMemo(
    () => ({ conversation, isRunning, isLoading, problem, actions }),
    [conversation, isRunning, isLoading, problem, actions],
  );
}

function removeConversation(id: string): () => void {
  if (chatStore.account !== null) return chatSync.remove(id);
  const conversation = chatStore.find(id);
  chatStore.remove(id);
  return () => {
    if (conversation !== undefined) chatStore.receive(conversation);
  };
}
