/** Brings conversations of a signed-in person to the server and from there, in the background. */

import { queryClient } from "../../api/query-client.ts";
import { ApiError } from "../../api/request.ts";
import { refreshSession } from "../../api/session.ts";
import { type ChatAccount, removeAccountData } from "./chat-account.ts";
import { chatStore } from "./chat-store.ts";
import type { Conversation } from "./conversation.ts";
import { Listeners } from "./listeners.ts";
import { PendingDeletions } from "./pending-deletions.ts";
import { isFull, isMissing, type SavedChat, SavedChatsApi } from "./saved-chats-api.ts";
import { contentOf, isSameContent, unionOf, uniteWithSaved } from "./saved-content.ts";
import { type ConversationTitle, parseConversation, titleOf } from "./stored-conversations.ts";
import { NO_SYNC, type SyncState } from "./sync-state.ts";
import { forgetDraft } from "./use-draft.ts";

const PUSH_MS = 1500;
/** An answer that is being received is saved this often. */
const MAX_WAIT_MS = 10_000;
const PULL_MS = 30_000;
const FIRST_RETRY_MS = 2000;
/** Others change the same conversation at the same moment. */
const MAX_CONFLICTS = 5;

export class ChatSync {
  #state: SyncState = NO_SYNC;
  #account: ChatAccount | null = null;
  #deletions = new PendingDeletions(null);
  #api = new SavedChatsApi("");
  #timer: ReturnType<typeof setTimeout> | undefined;
  #pushTimer: ReturnType<typeof setTimeout> | undefined;
  /** When the first change was made that is not pushed yet. */
  #changedSince: number | undefined;
  #failures = 0;
  #next: Promise<void> | undefined;
  /** Versions that the server refused; changed ones are tried again. */
  readonly #refused = new Map<string, Conversation>();
  readonly #listeners = new Listeners();

  constructor() {
    chatStore.subscribe(() => this.#noticeChange());
    globalThis.addEventListener?.("online", () => void this.sync());
    globalThis.document?.addEventListener("visibilitychange", () => {
      if (document.visibilityState === "visible") void this.sync();
    });
  }

  readonly subscribe = this.#listeners.subscribe;

  readonly state = (): SyncState => this.#state;

  /** Begins with the conversations of whoever is signed in now. */
  start(): void {
    const { account } = chatStore;
    if (account === this.#account) return;
    this.#stop();
    this.#account = account;
    if (account === null) return;
    removeAccountData(account.userId);
    this.#deletions = new PendingDeletions(account);
    this.#api = new SavedChatsApi(account.projectId);
    this.#update({ mode: "account" });
    void this.sync();
  }

  /** Reads what changed on the server and writes what changed here. Never rejects. */
  sync(): Promise<void> {
    // What changed while it ran is not written yet.
    this.#next = (this.#next ?? Promise.resolve()).then(() => this.#sync());
    return this.#next;
  }

  /** Reads a conversation that another device changed, or that this browser does not have. */
  async open(id: string): Promise<void> {
    const entry = this.#state.entries.find((each) => each.id === id);
    const local = chatStore.find(id);
    if (entry === undefined || (local?.saved?.revision ?? 0) >= entry.revision) return;
    if (local === undefined || local.turns.length === 0)
      this.#update({ loading: new Set(this.#state.loading).add(id) });
    try {
      await this.#refresh(id);
    } catch (failure) {
      if (!isMissing(failure)) this.#fail();
    } finally {
      const loading = new Set(this.#state.loading);
      loading.delete(id);
      this.#update({ loading });
    }
  }

  /** Lists the conversations of the account, newest first. */
  titles(): ConversationTitle[] {
    // The entries may be those of somebody who signed in before.
    if (this.#account === null || this.#account !== chatStore.account) return chatStore.stored.list();
    return unionOf(this.#state.entries, chatStore.stored.list()).filter(({ id }) => !this.#deletions.has(id));
  }

  /** Changes something else than the content of a conversation, which the server has then. */
  async request(id: string, send: (api: SavedChatsApi) => Promise<SavedChat>): Promise<SavedChat> {
    // It may not have been written yet.
    if (chatStore.find(id)?.saved?.isChanged === true) await this.sync();
    const entry = await send(this.#api);
    this.#update({ entries: this.#state.entries.map((each) => (each.id === id ? entry : each)) });
    return entry;
  }

  /** Deletes a conversation after the time in which it can be undone; returns how to undo it. */
  remove(id: string): () => void {
    this.#deletions.add(id);
    this.#update({});
    this.#schedule(this.#deletions.nextMs());
    return () => {
      this.#deletions.cancel(id);
      this.#update({});
    };
  }

  /** Deletes all conversations of the account in the project. */
  async removeAll(): Promise<void> {
    await this.#api.deleteAll();
    for (const { id } of chatStore.stored.heads()) chatStore.remove(id);
    this.#update({ entries: [], problems: new Map() });
  }

  /** Writes everything to the server; returns the number of conversations that it does not have. */
  async finish(): Promise<number> {
    this.start();
    if (this.#account === null) return 0;
    this.#deletions.expire();
    await this.sync();
    return this.#changed().length;
  }

  /** Removes the account's conversations from this browser, and what is not sent yet. */
  forget(): void {
    this.#stop();
    forgetDraft();
    void import("../transcription/stored-studio.ts").then(({ forgetStudio }) => forgetStudio());
    chatStore.forget();
    removeAccountData();
  }

  async #sync(): Promise<void> {
    const account = this.#account;
    if (account === null || this.#state.mode === "browser") return;
    clearTimeout(this.#timer);
    try {
      await refreshSession(queryClient);
      // Another tab signed out, or chose another project.
      if (account === this.#account && account !== chatStore.account) this.#stop();
      if (account !== this.#account) return;
      await this.#deleteDue();
      await this.#pull();
      await this.#push();
      if (account !== this.#account) return;
      this.#failures = 0;
      this.#update({ isOffline: false });
    } catch {
      if (account === this.#account) this.#fail();
    }
    if (account !== this.#account) return;
    const next = this.#failures === 0 ? PULL_MS : Math.min(PULL_MS, FIRST_RETRY_MS * 2 ** (this.#failures - 1));
    this.#schedule(Math.min(next, this.#deletions.nextMs()));
  }

  async #deleteDue(): Promise<void> {
    const deletions = this.#deletions;
    for (const id of deletions.due()) {
      await this.#api.delete(id);
      deletions.cancel(id);
      if (deletions !== this.#deletions) return;
      chatStore.remove(id);
    }
  }

  async #pull(): Promise<void> {
    const account = this.#account;
    const entries = await this.#api.list();
    if (account !== this.#account) return;
    const byId = new Map(entries.map((entry) => [entry.id, entry]));
    for (const { id, saved } of chatStore.stored.heads()) {
      if (saved === undefined || saved.revision === 0 || byId.has(id)) continue;
      // Another device deleted it; what this one added meanwhile counts more.
      if (!saved.isChanged && !chatStore.isRunning(id)) chatStore.remove(id);
    }
    this.#update({ entries });
    for (const id of chatStore.openIds) await this.open(id);
  }

  async #push(): Promise<void> {
    this.#changedSince = undefined;
    for (const id of this.#changed()) await this.#write(id);
  }

  /** IDs of conversations that the server lacks, or has in another version. */
  #changed(): string[] {
    chatStore.flush();
    const stored = chatStore.stored.heads().filter(({ saved, hasTurns }) => hasTurns && saved?.isChanged === true);
    // The browser's storage may have no room for an open one.
    const open = chatStore.openIds.filter((id) => chatStore.find(id)?.saved?.isChanged === true);
    return [...new Set([...stored.map(({ id }) => id), ...open])].filter((id) => !this.#deletions.has(id));
  }

  async #write(id: string): Promise<void> {
    for (let conflicts = 0; conflicts < MAX_CONFLICTS; conflicts += 1) {
      const conversation = chatStore.find(id);
      if (conversation === undefined || isSameContent(this.#refused.get(id), conversation)) return;
      const { revision } = conversation.saved ?? { revision: 0 };
      const body = { title: titleOf(conversation), content: contentOf(conversation), revision };
      try {
        this.#confirm(conversation, await this.#api.put(id, body));
        return;
      } catch (failure) {
        if (!(await this.#resolve(conversation, failure))) return;
      }
    }
  }

  /** Returns whether another attempt may succeed. */
  async #resolve(conversation: Conversation, failure: unknown): Promise<boolean> {
    if (!(failure instanceof ApiError)) throw failure;
    if (failure.code === "chat_changed") await this.#refresh(conversation.id);
    else if (failure.code === "chat_not_found") {
      chatStore.receive({ ...conversation, saved: { revision: 0, isChanged: true } });
    } else if (failure.status === 413 || failure.status === 400 || isFull(failure)) {
      this.#refuse(conversation, failure.message);
      return false;
    } else throw failure;
    return true;
  }

  #confirm(sent: Conversation, entry: SavedChat): void {
    const { id } = sent;
    const now = chatStore.find(id);
    if (now === undefined) return;
    chatStore.receive({ ...now, saved: { revision: entry.revision, isChanged: !isSameContent(now, sent) } });
    this.#refused.delete(id);
    const problems = new Map(this.#state.problems);
    problems.delete(id);
    this.#update({ entries: [entry, ...this.#state.entries.filter((each) => each.id !== id)], problems });
  }

  #refuse(conversation: Conversation, message: string): void {
    this.#refused.set(conversation.id, conversation);
    this.#update({ problems: new Map(this.#state.problems).set(conversation.id, message) });
  }

  /** Reads a conversation from the server, and unites it with what this browser has changed. */
  async #refresh(id: string): Promise<void> {
    const account = this.#account;
    const { content, revision } = await this.#api.read(id);
    const remote = parseConversation(content);
    if (account !== this.#account || remote === undefined) return;
    const { merged, isChanged } = uniteWithSaved(chatStore.find(id), remote);
    chatStore.receive({ ...merged, id, saved: { revision, isChanged } });
  }

  /** The next try reads the session first, which tells when the service saves no chats any more. */
  #fail(): void {
    this.#failures += 1;
    this.#update({ isOffline: true });
  }

  #noticeChange(): void {
    if (this.#account === null || this.#state.mode === "browser") return;
    const hasChanges = chatStore.openIds.some((id) => chatStore.find(id)?.saved?.isChanged === true);
    if (!hasChanges || this.#failures > 0) return;
    const now = Date.now();
    this.#changedSince ??= now;
    clearTimeout(this.#pushTimer);
    const delay = Math.max(0, Math.min(PUSH_MS, this.#changedSince + MAX_WAIT_MS - now));
    this.#pushTimer = setTimeout(() => void this.sync(), delay);
  }

  #schedule(delayMs: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      // A tab that nobody sees asks for nothing, but writes.
      if (document.visibilityState === "visible" || this.#changed().length > 0) void this.sync();
      else this.#schedule(PULL_MS);
    }, delayMs);
  }

  #stop(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#pushTimer);
    this.#account = null;
    this.#failures = 0;
    this.#changedSince = undefined;
    this.#refused.clear();
    this.#state = NO_SYNC;
    this.#update({});
  }

  #update(part: Partial<SyncState>): void {
    this.#state = { ...this.#state, ...part };
    this.#listeners.notify();
  }
}

export const chatSync: ChatSync = new ChatSync();
