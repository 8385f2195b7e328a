/** Conversations that are open or being answered. Answers go on while other pages are shown. */

import { type AnswerRequest, readerOf, withAnswer } from "./answers/answer-reader.ts";
import { streamAnswer } from "./answers/stream-answer.ts";
import { type ChatAccount, currentAccount, isSameAccount } from "./chat-account.ts";
import { newTurn, sameTurn } from "./chat-body.ts";
import { type Answer, type Conversation, newConversation, type ToolResult, type Turn } from "./conversation.ts";
import { parentOf, pathOf, select, withTurn } from "./conversation-tree.ts";
import { Listeners } from "./listeners.ts";
import { laterState, mergeConversations } from "./merge-conversations.ts";
import { StoredConversations, serialize } from "./stored-conversations.ts";
import type { Approval, McpToolName } from "./tools/service-tools.ts";

// untranslated: models follow it in English best
const CONTINUATION = "Continue exactly where your last message ended. Repeat nothing and add no introduction.";
/** What is lost at most when the browser is killed. */
const STORE_MS = 500;

export class ChatStore {
  readonly #conversations = new Map<string, Conversation>();
  readonly #runs = new Map<string, AbortController>();
  readonly #unstored = new Set<string>();
  readonly #listeners = new Listeners();
  /** While the page is left, its requests fail, which is not worth storing. */
  #isLeaving = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #account: ChatAccount | null = null;
  #stored = new StoredConversations(null);

  constructor() {
    globalThis.addEventListener?.("pagehide", () => {
      this.flush();
      this.#isLeaving = true;
    });
    globalThis.addEventListener?.("pageshow", () => {
      this.#isLeaving = false;
    });
    globalThis.addEventListener?.("storage", ({ key }) => this.#takeOver(key));
  }

  /** Whose conversations these are; null: the browser's. */
  get account(): ChatAccount | null {
    this.#enter();
    return this.#account;
  }

  /** Where this browser stores the conversations. */
  get stored(): StoredConversations {
    this.#enter();
    return this.#stored;
  }

  /** IDs of the conversations that are open or being answered. */
  get openIds(): string[] {
    this.#enter();
    return [...this.#conversations.keys()];
  }

  readonly subscribe = this.#listeners.subscribe;

  /** Returns the conversation; an ID that this browser does not have begins another one. */
  get(id: string): Conversation {
    const conversation = this.find(id) ?? { ...newConversation(), id };
    this.#conversations.set(id, conversation);
    return conversation;
  }

  /** Returns the conversation if this browser has it. */
  find(id: string): Conversation | undefined {
    this.#enter();
    return this.#conversations.get(id) ?? this.#stored.load(id);
  }

  isRunning(id: string): boolean {
    return this.#runs.has(id);
  }

  /** Adds a conversation. */
  add(conversation: Conversation): void {
    this.#enter();
    this.#conversations.set(conversation.id, conversation);
    this.#storeSoon(conversation.id);
  }

  /** Replaces a conversation by a version that the server has, or that contains it. */
  receive(conversation: Conversation): void {
    this.#enter();
    if (this.#conversations.has(conversation.id)) {
      this.#conversations.set(conversation.id, conversation);
      this.#storeSoon(conversation.id);
    } else {
      this.#stored.store(conversation);
      this.#listeners.notify();
    }
  }

  change(id: string, part: Partial<Conversation>): void {
    const conversation = { ...this.get(id), ...part };
    const { turns, saved } = conversation;
    // An empty conversation is worth nothing on other devices.
    if (this.#account !== null && turns.length > 0) {
      conversation.saved = { revision: saved?.revision ?? 0, isChanged: true };
    }
    this.#conversations.set(id, conversation);
    this.#storeSoon(id);
  }

  /** Adds a turn and has it answered by every model. */
  ask(
    id: string,
    turn: Pick<Turn, "text" | "images" | "files"> | { toolResults: ToolResult[] } | { approvals: Approval[] },
  ): void {
    const text = "text" in turn ? turn.text : "";
    void this.#run(id, newTurn(text, turn), pathOf(this.get(id)).at(-1)?.id ?? null);
  }

  /** Has the model go on with calls that the last answer asks to make. `allowed`: tools that ask no more. */
  decide(id: string, approvals: Approval[], allowed: readonly McpToolName[]): void {
    const { parameters } = this.get(id);
    const { allowedTools = [] } = parameters;
    const added = allowed.filter(({ server, tool }) =>
      allowedTools.every((each) => each.server !== server || each.tool !== tool),
    );
    if (added.length > 0) this.change(id, { parameters: { ...parameters, allowedTools: [...allowedTools, ...added] } });
    this.ask(id, { approvals });
  }

  /** Answers a turn again, with `text` in its place if given, in a branch beside it. */
  retry(id: string, turnId: string, text?: string): void {
    const conversation = this.get(id);
    const turn = conversation.turns.find((each) => each.id === turnId);
    if (turn === undefined) return;
    void this.#run(id, sameTurn(turn, text), parentOf(conversation, turnId));
  }

  /** Has the model go on with its last answer where it ended. */
  continue(id: string, turnId: string, column: number): void {
    const turns = pathOf(this.get(id));
    const before = turns.find((turn) => turn.id === turnId)?.answers[column];
    if (before === undefined) return;
    const asking = [...turns, newTurn(CONTINUATION)];
    const { alternatives: _, tokens: __, ...kept } = before;
    const request = { model: before.model, column, turns: asking, before: { ...kept, alternatives: [] } };
    void this.#answer(id, this.#begin(id), turnId, [request]);
  }

  /** Writes another text in place of an answer, in a branch beside it. */
  editAnswer(id: string, turnId: string, column: number, text: string): void {
    const conversation = this.get(id);
    const turn = conversation.turns.find((each) => each.id === turnId);
    if (turn === undefined || this.isRunning(id)) return;
    const answers = turn.answers.map((answer, index) => {
      const { tokens: _, ...rest } = answer;
      return index === column ? { ...rest, text } : answer;
    });
    const next = { ...sameTurn(turn), answers };
    this.change(id, { ...withTurn(conversation, next, parentOf(conversation, turnId)), changedAt: Date.now() });
  }

  /** Shows the branch that stands `offset` places after that of a turn. */
  showBranch(id: string, turnId: string, offset: number): void {
    this.change(id, select(this.get(id), turnId, offset));
  }

  stop(id: string): void {
    this.#runs.get(id)?.abort();
  }

  /** Deletes a conversation, also from storage. */
  remove(id: string): void {
    this.stop(id);
    this.#runs.delete(id);
    this.#conversations.delete(id);
    this.#unstored.delete(id);
    this.#stored.remove(id);
    this.#listeners.notify();
  }

  /** Forgets a conversation that is no longer shown, unless it is being answered. */
  release(id: string): void {
    if (this.isRunning(id)) return;
    this.flush();
    // The browser's storage may have had no room for it.
    if (this.#conversations.get(id)?.saved?.isChanged) return;
    this.#conversations.delete(id);
  }

  /** Writes what is not in storage yet. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#isLeaving) return;
    for (const id of this.#unstored) {
      const conversation = this.#conversations.get(id);
      if (conversation !== undefined) this.#stored.store(conversation);
    }
    this.#unstored.clear();
  }

  async #run(id: string, turn: Turn, parent: string | null): Promise<void> {
    const run = this.#begin(id);
    this.change(id, { ...withTurn(this.get(id), turn, parent), changedAt: Date.now() });
    const turns = pathOf(this.get(id));
    // The question survives whatever happens next.
    this.flush();
    const requests = this.get(id).models.map((model, column) => ({ model, column, turns }));
    await this.#answer(id, run, turn.id, requests);
  }

  #begin(id: string): AbortController {
    this.stop(id);
    const run = new AbortController();
    this.#runs.set(id, run);
    return run;
  }

  async #answer(id: string, run: AbortController, turnId: string, requests: readonly AnswerRequest[]): Promise<void> {
    const { parameters } = this.get(id);
    const show = (request: AnswerRequest) => (answer: Answer) => {
      if (this.#runs.get(id) !== run) return;
      const shown = this.get(id).turns.map((each) =>
        each.id === turnId ? { ...each, answers: withAnswer(each.answers, request, answer) } : each,
      );
      this.change(id, { turns: shown, changedAt: Date.now() });
    };
    await Promise.all(
      requests.map((request) => streamAnswer(request.model, run.signal, show(request), readerOf(parameters, request))),
    );
    if (this.#runs.get(id) !== run) return;
    this.#runs.delete(id);
    this.#storeSoon(id);
    this.flush();
  }

  #storeSoon(id: string): void {
    this.#unstored.add(id);
    this.#timer ??= setTimeout(() => this.flush(), STORE_MS);
    this.#listeners.notify();
  }

  /** Forgets the conversations of an account without storing them, before it signs out. */
  forget(): void {
    this.#unstored.clear();
    this.#drop();
  }

  /** Begins with other conversations when somebody else signs in, or in another project. */
  #enter(): void {
    const account = currentAccount();
    if (account === undefined || isSameAccount(account, this.#account)) return;
    this.flush();
    this.#drop();
    this.#account = account;
    this.#stored = new StoredConversations(account);
  }

  #drop(): void {
    for (const controller of this.#runs.values()) controller.abort();
    this.#runs.clear();
    this.#conversations.clear();
  }

  /** Takes over what another tab of this browser has stored. */
  #takeOver(key: string | null): void {
    const id = key === null ? undefined : this.#stored.idOf(key);
    if (id === undefined) return;
    this.#stored.forget(id);
    const open = this.#conversations.get(id);
    const stored = this.#stored.load(id);
    if (open !== undefined && stored === undefined && (this.#account !== null || !this.isRunning(id))) {
      // Signed out or deleted in the other tab, which keeps what the server lacks: an answer must not store it again.
      this.stop(id);
      this.#runs.delete(id);
      this.#unstored.delete(id);
      this.#conversations.delete(id);
    }
    if (open === undefined || stored === undefined) {
      this.#listeners.notify();
      return;
    }
    const merged = mergeConversations(open, stored);
    const isStored = serialize({ turns: merged.turns }) === serialize({ turns: stored.turns });
    const saved = isStored ? stored.saved : laterState(open.saved, stored.saved);
    this.#conversations.set(id, { ...merged, ...(saved && { saved }) });
    // Both tabs have the same turns after that, and neither stores again.
    if (isStored) this.#listeners.notify();
    else this.#storeSoon(id);
  }
}

export const chatStore: ChatStore = new ChatStore();
