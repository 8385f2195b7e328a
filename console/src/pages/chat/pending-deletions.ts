/** Conversations that will be deleted once that can no longer be undone, also when the page is closed before. */

import { UNDO_MS } from "../../components/notify.tsx";
import { accountPrefix, type ChatAccount } from "./chat-account.ts";

export class PendingDeletions {
  readonly #key: string;
  /** Epoch milliseconds from which each may be deleted. */
  #dueAt: Record<string, number> = {};

  /** `account`: null for nobody. */
  constructor(account: ChatAccount | null) {
    this.#key = account === null ? "" : `${accountPrefix(account)}deleted`;
    this.#dueAt = this.#read();
  }

  has(id: string): boolean {
    return Object.hasOwn(this.#dueAt, id);
  }

  add(id: string): void {
    this.#dueAt = { ...this.#read(), [id]: Date.now() + UNDO_MS };
    this.#write();
  }

  cancel(id: string): void {
    const { [id]: _removed, ...rest } = this.#read();
    this.#dueAt = rest;
    this.#write();
  }

  /** Makes all due: nobody can undo them any more. */
  expire(): void {
    for (const id of Object.keys(this.#dueAt)) this.#dueAt[id] = 0;
  }

  due(): string[] {
    return Object.keys(this.#dueAt).filter((id) => (this.#dueAt[id] ?? 0) <= Date.now());
  }

  /** Milliseconds until the next one is due. */
  nextMs(): number {
    return Math.max(0, Math.min(...Object.values(this.#dueAt)) - Date.now());
  }

  #read(): Record<string, number> {
    try {
      return JSON.parse(localStorage.getItem(this.#key) ?? "{}") as Record<string, number>;
    } catch {
      return this.#dueAt;
    }
  }

  #write(): void {
    try {
      localStorage.setItem(this.#key, JSON.stringify(this.#dueAt));
    } catch {
      // Storage is full or disabled: the list lasts until the page is closed.
    }
  }
}
