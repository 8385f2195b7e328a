import { useCallback, useEffect, useRef, useState } from "react";
import { newTurn, toChatBody } from "./chat-body.ts";
import { type Answer, type Conversation, newConversation, type ToolResult, type Turn } from "./conversation.ts";
import {
  loadConversation,
  loadLastConversation,
  removeConversation,
  storeConversation,
} from "./stored-conversations.ts";
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
  /** Continues a stored conversation. */
  open(id: string): void;
  /** Begins another one with the same models and parameters. */
  begin(): void;
  /** Deletes a stored conversation. */
  remove(id: string): void;
}

export function useChat(): Chat {
  const [conversation, setConversation] = useState(loadLastConversation);
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
    const { id, models, parameters } = latest.current;
    const controller = new AbortController();
    abort.current = controller;
    setIsRunning(true);
    // Another conversation may be open meanwhile.
    const changeTurns = (change: (turns: Turn[]) => Turn[]) =>
      setConversation((now) => (now.id === id ? { ...now, turns: change(now.turns), changedAt: Date.now() } : now));
    changeTurns(() => turns);
    const show = (column: number) => (answer: Answer) => {
      changeTurns((shown) =>
        shown.map((turn, index) =>
          index === turns.length - 1 ? { ...turn, answers: replaced(turn.answers, column, answer) } : turn,
        ),
      );
    };
    await Promise.all(
      models.map((model, column) =>
        streamAnswer(toChatBody(model, parameters, turns, column), controller.signal, show(column)),
      ),
    );
    if (abort.current === controller) setIsRunning(false);
  }, []);

  const replace = (next: Conversation) => {
    abort.current?.abort();
    abort.current = undefined;
    setIsRunning(false);
    setConversation(next);
  };
  const begun = () => newConversation(conversation.models, conversation.parameters);

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
    open: (id) => {
      storeConversation(conversation);
      replace(loadConversation(id) ?? begun());
    },
    begin: () => {
      storeConversation(conversation);
      replace(begun());
    },
    remove: (id) => {
      removeConversation(id);
      if (id === conversation.id) replace(begun());
    },
  };
}

function replaced(answers: readonly Answer[], column: number, answer: Answer): Answer[] {
  const next = [...answers];
  next[column] = answer;
  return next;
}
