import { useCallback, useEffect, useRef, useState } from "react";
import { newTurn, toChatBody } from "./chat-body.ts";
import {
  type Answer,
  type Conversation,
  loadConversation,
  storeConversation,
  type ToolResult,
  type Turn,
} from "./conversation.ts";
import { streamAnswer } from "./stream-answer.ts";

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
  clear(): void;
}

export function useChat(): Chat {
  const [conversation, setConversation] = useState(loadConversation);
  const [isRunning, setIsRunning] = useState(false);
  const abort = useRef<AbortController>(undefined);
  const latest = useRef(conversation);
  latest.current = conversation;

  useEffect(() => {
    if (!isRunning) storeConversation(conversation);
  }, [conversation, isRunning]);
  // Leaving the page stops the answer, and the service frees its slot.
  useEffect(
    () => () => {
      abort.current?.abort();
      storeConversation(latest.current);
    },
    [],
  );

  const run = useCallback(async (turns: Turn[]) => {
    const { models, parameters } = latest.current;
    const controller = new AbortController();
    abort.current = controller;
    setIsRunning(true);
    setConversation((now) => ({ ...now, turns }));
    const show = (column: number) => (answer: Answer) => {
      setConversation((now) => ({
        ...now,
        turns: now.turns.map((turn, index) =>
          index === turns.length - 1 ? { ...turn, answers: replaced(turn.answers, column, answer) } : turn,
        ),
      }));
    };
    await Promise.all(
      models.map((model, column) =>
        streamAnswer(toChatBody(model, parameters, turns, column), controller.signal, show(column)),
      ),
    );
    setIsRunning(false);
  }, []);

  return {
    conversation,
    isRunning,
    change: (part) => setConversation((now) => ({ ...now, ...part })),
    ask: (text, images) => void run([...conversation.turns, newTurn(text, { images })]),
    sendToolResults: (toolResults) => void run([...conversation.turns, newTurn("", { toolResults })]),
    retry: (turnId, text) => {
      const at = conversation.turns.findIndex(({ id }) => id === turnId);
      const turn = conversation.turns[at];
      if (turn === undefined) return;
      void run([...conversation.turns.slice(0, at), { ...turn, text: text ?? turn.text, answers: [] }]);
    },
    stop: () => abort.current?.abort(),
    clear: () => {
      abort.current?.abort();
      setConversation((now) => ({ ...now, turns: [] }));
    },
  };
}

function replaced(answers: readonly Answer[], column: number, answer: Answer): Answer[] {
  const next = [...answers];
  next[column] = answer;
  return next;
}
