/** Conversations, which stay in this browser. */

import { t } from "../../i18n/translate.ts";
import { type Conversation, NO_PARAMETERS, newConversation } from "./conversation.ts";

export interface ConversationTitle {
  id: string;
  /** Beginning of the first question. */
  title: string;
  changedAt: number;
}

const PREFIX = "parlance-conversation/";
/** ID of the conversation that was stored last. */
const OPEN_KEY = "parlance-open-conversation";
/** Older ones are removed. */
const MAX_STORED = 100;
const TITLE_CHARACTERS = 80;

/** Returns those with questions, newest first. */
export function listConversations(): ConversationTitle[] {
  return readAll()
    .filter(({ turns }) => turns.length > 0)
    .map(({ id, changedAt, turns: [first] }) => ({ id, changedAt, title: titleOf(first?.text ?? "") }));
}

/** Returns the one that was stored last, or a new one. */
export function loadLastConversation(): Conversation {
  try {
    return loadConversation(localStorage.getItem(OPEN_KEY) ?? "") ?? newConversation();
  } catch {
    // Storage is disabled.
    return newConversation();
  }
}

export function loadConversation(id: string): Conversation | undefined {
  return read(PREFIX + id);
}

/** Makes room where the browser's storage is full: images of old conversations take most of it. */
export function storeConversation(conversation: Conversation): void {
  const older = readAll().filter(({ id }) => id !== conversation.id);
  for (const [index, { id, turns }] of older.entries()) {
    if (turns.length === 0 || index >= MAX_STORED - 1) removeConversation(id);
  }
  for (let last = older.length; last >= 0; last -= 1) {
    try {
      localStorage.setItem(PREFIX + conversation.id, JSON.stringify(conversation, withoutProbabilities));
      localStorage.setItem(OPEN_KEY, conversation.id);
      return;
    } catch {
      // Where storage is disabled, the conversation lasts until the page is closed.
      const oldest = older[last - 1];
      if (oldest !== undefined) removeConversation(oldest.id);
    }
  }
}

export function removeConversation(id: string): void {
  localStorage.removeItem(PREFIX + id);
}

function readAll(): Conversation[] {
  const keys = Object.keys(localStorage).filter((key) => key.startsWith(PREFIX));
  return keys.flatMap((key) => read(key) ?? []).sort((a, b) => b.changedAt - a.changedAt);
}

/** An interrupted answer counts as stopped. */
function read(key: string): Conversation | undefined {
  try {
    const stored = JSON.parse(localStorage.getItem(key) ?? "null") as Conversation | null;
    if (stored === null || !Array.isArray(stored.turns)) return undefined;
    const turns = stored.turns.map((turn) => ({
      ...turn,
      answers: turn.answers.map((answer) => ({
        ...answer,
        state: answer.state === "running" ? ("stopped" as const) : answer.state,
      })),
    }));
    return { ...stored, parameters: { ...NO_PARAMETERS, ...stored.parameters }, turns };
  } catch {
    return undefined;
  }
}

/** Log probabilities are fifty times as large as their text. */
function withoutProbabilities(key: string, value: unknown): unknown {
  return key === "tokens" && Array.isArray(value) ? undefined : value;
}

function titleOf(text: string): string {
  const line = text.trim().split("\n", 1)[0] ?? "";
  if (line === "") return t("Image");
  return line.length > TITLE_CHARACTERS ? `${line.slice(0, TITLE_CHARACTERS)}…` : line;
}
