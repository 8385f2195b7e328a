/** Items of a session's conversation, in memory. */

import { invalidRequest } from "../../kernel/faults.ts";
import type { ConversationItem } from "../../wire/realtime/conversation-items.ts";
import { type SpokenText, textHeardUntil } from "./spoken-text.ts";

/** Beyond these, the oldest items are removed. */
const MAX_ITEMS = 1000;
const MAX_BYTES = 16 * 1024 ** 2;

interface Entry {
  item: ConversationItem;
  bytes: number;
  /** Texts of an assistant's audio with their times. */
  spoken: readonly SpokenText[];
}

export class Conversation {
  readonly #entries: Entry[] = [];
  #bytes = 0;

  get items(): ConversationItem[] {
    return this.#entries.map(({ item }) => item);
  }

  /**
   * Adds an item after another one, `root` for the beginning, or at the end. Returns the ID of the item before it. Throws
   * a Fault for an ID that is taken, or an item that does not exist.
   */
  add(item: ConversationItem, previousId?: string): string | null {
    if (this.#entries.some((each) => each.item.id === item.id)) {
      throw invalidRequest(`The conversation has an item '${item.id}' already.`, "item.id", "invalid_value");
    }
    const at = this.#positionAfter(previousId);
    const bytes = bytesOf(item);
    this.#entries.splice(at, 0, { item, bytes, spoken: [] });
    this.#bytes += bytes;
    return this.#entries[at - 1]?.item.id ?? null;
  }

  /** Throws a Fault for an item that does not exist. */
  get(id: string): ConversationItem {
    return this.#entry(id).item;
  }

  /** Throws a Fault for an item that does not exist. */
  remove(id: string): void {
    const entry = this.#entry(id);
    this.#entries.splice(this.#entries.indexOf(entry), 1);
    this.#bytes -= entry.bytes;
  }

  /** Removes the oldest items above the limits and returns their IDs. */
  trim(): string[] {
    const removed: string[] = [];
    while (this.#entries.length > MAX_ITEMS || (this.#bytes > MAX_BYTES && this.#entries.length > 1)) {
      const id = this.#entries[0]?.item.id ?? "";
      this.remove(id);
      removed.push(id);
    }
    return removed;
  }

  /** Measures an item again that has changed; it may have been removed. */
  measure(id: string): void {
    const entry = this.#entries.find(({ item }) => item.id === id);
    if (entry === undefined) return;
    const bytes = bytesOf(entry.item);
    this.#bytes += bytes - entry.bytes;
    entry.bytes = bytes;
  }

  /** Keeps the times of an item's audio for its truncation; the item may have been removed. */
  setSpoken(id: string, spoken: readonly SpokenText[]): void {
    const entry = this.#entries.find(({ item }) => item.id === id);
    if (entry !== undefined) entry.spoken = spoken;
  }

  /** Cuts the transcript of an assistant's audio to what was heard. Throws a Fault for other items and times. */
  truncate(id: string, contentIndex: number, audioEndMs: number): void {
    const { item, spoken } = this.#entry(id);
    const content = item.type === "message" && item.role === "assistant" ? item.content[contentIndex] : undefined;
    if (content === undefined || content.type !== "output_audio") {
      const message = `The item '${id}' has no audio of the assistant at this index.`;
      throw invalidRequest(message, "content_index", "invalid_value");
    }
    const totalMs = spoken.at(-1)?.endMs ?? 0;
    if (audioEndMs > totalMs) {
      throw invalidRequest(`The audio of this item has only ${totalMs} ms.`, "audio_end_ms", "invalid_value");
    }
    content.transcript = textHeardUntil(spoken, audioEndMs);
  }

  #positionAfter(previousId: string | undefined): number {
    if (previousId === undefined) return this.#entries.length;
    if (previousId === "root") return 0;
    const at = this.#entries.findIndex(({ item }) => item.id === previousId);
    if (at >= 0) return at + 1;
    throw noItem(previousId, "previous_item_id");
  }

  #entry(id: string): Entry {
    const entry = this.#entries.find(({ item }) => item.id === id);
    if (entry === undefined) throw noItem(id, "item_id");
    return entry;
  }
}

function bytesOf(item: ConversationItem): number {
  return Buffer.byteLength(JSON.stringify(item));
}

function noItem(id: string, param: string) {
  return invalidRequest(`The conversation has no item '${id.slice(0, 100)}'.`, param, "item_not_found");
}
