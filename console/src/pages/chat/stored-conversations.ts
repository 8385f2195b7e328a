/** Conversations in this browser's storage: all of the browser, or copies of those of an account. */

import { t } from "../../i18n/translate.ts";
import { accountPrefix, type ChatAccount } from "./chat-account.ts";
import {
  type Arrangement,
  type Conversation,
  NO_PARAMETERS,
  newConversation,
  type SavedState,
} from "./conversation.ts";

export interface ConversationTitle extends Arrangement {
  id: string;
  /** Name that the person gave it, or the beginning of the first question. */
  title: string;
  changedAt: number;
  /** ID of the copy that members of the project read; null: it is not shared. */
  shareId: string | null;
}

interface ConversationHead extends ConversationTitle {
  hasTurns: boolean;
  saved: SavedState | undefined;
}

const BROWSER_PREFIX = "parlance-conversation/";
/** ID of the conversation that was stored last. */
const BROWSER_OPEN_KEY = "parlance-open-conversation";
/** Older ones are removed. */
const MAX_STORED = 100;
const TITLE_CHARACTERS = 80;
const UNARRANGED: Arrangement = { folder: null, isPinned: false };

export class StoredConversations {
  readonly #prefix: string;
  readonly #openKey: string;
  /** By ID; those that are missing are read when they are needed. */
  readonly #heads = new Map<string, ConversationHead>();

  /** `account`: null for those that belong to the browser. */
  constructor(account: ChatAccount | null) {
    this.#prefix = account === null ? BROWSER_PREFIX : `${accountPrefix(account)}conversation/`;
    this.#openKey = account === null ? BROWSER_OPEN_KEY : `${accountPrefix(account)}open`;
  }

  /** Returns all, newest first. */
  heads(): ConversationHead[] {
    const ids = keysOfStorage().flatMap((key) => this.idOf(key) ?? []);
    return ids.flatMap((id) => this.#head(id) ?? []).sort((a, b) => b.changedAt - a.changedAt);
  }

  /** Returns those with questions, newest first. */
  list(): ConversationTitle[] {
    return this.heads()
      .filter(({ hasTurns }) => hasTurns)
      .map(({ hasTurns: _, saved: __, ...title }) => title);
  }

  /** Returns the one that was stored last, or a new one. */
  last(): Conversation {
    try {
      return this.load(localStorage.getItem(this.#openKey) ?? "") ?? newConversation();
    } catch {
      // Storage is disabled.
      return newConversation();
    }
  }

  load(id: string): Conversation | undefined {
    return parseConversation(readItem(this.#prefix + id));
  }

  /** Makes room where the browser's storage is full: images of old conversations take most of it. */
  store(conversation: Conversation): void {
    const older = this.heads().filter(({ id }) => id !== conversation.id);
    // A change that the server lacks is nowhere else.
    const removable = older.filter(({ saved }) => saved?.isChanged !== true);
    for (const [index, { id, hasTurns }] of removable.entries()) {
      if (!hasTurns || index >= MAX_STORED - 1) this.remove(id);
    }
    for (let last = removable.length; last >= 0; last -= 1) {
      try {
        localStorage.setItem(this.#prefix + conversation.id, serialize(conversation));
        localStorage.setItem(this.#openKey, conversation.id);
        this.#heads.set(conversation.id, toHead(conversation));
        return;
      } catch {
        // Where storage is disabled, the conversation lasts until the page is closed.
        const oldest = removable[last - 1];
        if (oldest !== undefined) this.remove(oldest.id);
      }
    }
  }

  remove(id: string): void {
    this.#heads.delete(id);
    try {
      localStorage.removeItem(this.#prefix + id);
    } catch {
      // Storage is disabled: it has nothing.
    }
  }

  /** Reads a conversation again that another tab has changed. */
  forget(id: string): void {
    this.#heads.delete(id);
  }

  /** Returns the ID of the conversation that a key of the storage has; undefined for other keys. */
  idOf(key: string): string | undefined {
    return key.startsWith(this.#prefix) ? key.slice(this.#prefix.length) : undefined;
  }

  #head(id: string): ConversationHead | undefined {
    const head = this.#heads.get(id);
    if (head !== undefined) return head;
    const conversation = this.load(id);
    if (conversation === undefined) return undefined;
    const read = toHead(conversation);
    this.#heads.set(id, read);
    return read;
  }
}

/** JSON of a conversation. Log probabilities, which are fifty times as large as their text, are left out. */
export function serialize(conversation: Partial<Conversation>): string {
  return JSON.stringify(conversation, (key, value) => (key === "tokens" && Array.isArray(value) ? undefined : value));
}

/** Reads a conversation; undefined for anything else. An interrupted answer counts as stopped. */
export function parseConversation(text: string | null): Conversation | undefined {
  try {
    const stored = JSON.parse(text ?? "null") as Conversation | null;
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

export function titleOf({ title, turns: [first] }: Pick<Conversation, "title" | "turns">): string {
  if (title !== undefined) return title;
  const line = first?.text.trim().split("\n", 1)[0] ?? "";
  if (line === "") return t("Image");
  return line.length > TITLE_CHARACTERS ? `${line.slice(0, TITLE_CHARACTERS)}…` : line;
}

function toHead(conversation: Conversation): ConversationHead {
  const { id, changedAt, turns, saved, arrangement = UNARRANGED } = conversation;
  const title = titleOf(conversation);
  return { id, title, changedAt, hasTurns: turns.length > 0, saved, shareId: null, ...arrangement };
}

function keysOfStorage(): string[] {
  try {
    return Object.keys(localStorage);
  } catch {
    return [];
  }
}

function readItem(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}
