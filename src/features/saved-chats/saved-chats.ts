/** Conversations of the console's chat, each for the person who had it. */

import { setImmediate as nextTurn } from "node:timers/promises";
import type { Database } from "../../storage/database.ts";
import { type Page, pageOfRows } from "../../storage/page.ts";
import { chatChanged, chatNotFound, chatTooLarge, noRoom, savesNothing, tooManyChats } from "./saved-chat-faults.ts";
import {
  type ChatOwner,
  deleteChats,
  findChat,
  findRevision,
  insertChat,
  listChats,
  lockChatsOf,
  measureChatsOf,
  type SavedChatHead,
  updateChat,
} from "./saved-chat-queries.ts";
import type { SavedChatPlace, SealedChats } from "./sealed-chats.ts";
import type { SavedChatSettings } from "./settings.ts";

export interface SavedChat extends Omit<SavedChatHead, "title"> {
  /** Null: no key of the service decrypts it, or chats are no longer saved. */
  title: string | null;
}

interface ChatPageRequest {
  /** Part of the title, in any case. */
  query: string | undefined;
  after: string | undefined;
  limit: number;
}

export interface ChatChange {
  title: string;
  content: string;
  /** Revision that the change is based on; 0: the chat is new. */
  revision: number;
}

export interface SavedChatsOptions {
  database: Database;
  /** Undefined: none are saved. Their persons can still list and delete earlier ones. */
  sealed: SealedChats | undefined;
  settings: Omit<SavedChatSettings, "store" | "keepDays">;
}

/** Titles decrypted at a time, between which other requests have their turn. */
const TITLES_AT_ONCE = 500;

export class SavedChats {
  readonly #options: SavedChatsOptions;

  constructor(options: SavedChatsOptions) {
    this.#options = options;
  }

  /** Lists the person's chats, the one that changed last first. Throws a Fault for an unknown `after`. */
  async list(owner: ChatOwner, { query, after, limit }: ChatPageRequest): Promise<Page<SavedChat>> {
    const heads = await this.#options.database.run((executor) => listChats(executor, owner));
    if (query === undefined) {
      const { entries, hasMore } = pageOfRows(heads, { after, limit });
      return { entries: entries.map((head) => this.#opened(head)), hasMore };
    }
    const text = query.toLowerCase();
    const matches: SavedChat[] = [];
    for (const [index, head] of heads.entries()) {
      if (index > 0 && index % TITLES_AT_ONCE === 0) await nextTurn();
      const chat = this.#opened(head);
      if (chat.title?.toLowerCase().includes(text)) matches.push(chat);
    }
    return pageOfRows(matches, { after, limit });
  }

  /** Throws a Fault when the person has no such chat in the project. */
  async find(place: SavedChatPlace): Promise<SavedChat & { content: string }> {
    const sealed = this.#sealed;
    const row = await this.#options.database.run((executor) => findChat(executor, place));
    if (row === undefined) throw chatNotFound(place.id);
    const { content, ...head } = row;
    return { ...this.#opened(head), content: await sealed.openContent(place, content) };
  }

  /** Creates or replaces a chat. Throws a Fault when another change came first, or a bound is reached. */
  async put(place: SavedChatPlace, { title, content, revision }: ChatChange): Promise<SavedChat> {
    const { database, settings } = this.#options;
    const sealed = this.#sealed;
    const bytes = Buffer.byteLength(content);
    if (bytes > settings.maxSizePerChat) throw chatTooLarge(bytes, settings.maxSizePerChat);
    const row = { ...(await sealed.seal(place, { title, content })), bytes, revision: revision + 1 };
    return database.transaction(async (executor) => {
      await lockChatsOf(executor, place.userId);
      const current = await findRevision(executor, place);
      if (current === undefined && revision > 0) throw chatNotFound(place.id);
      if (current !== undefined && current.revision !== revision) {
        throw chatChanged(place.id, current.revision, revision);
      }
      const stored = await measureChatsOf(executor, place.userId);
      const total = stored.bytes - (current?.bytes ?? 0) + bytes;
      const isNew = current === undefined;
      if (isNew && stored.chats >= settings.maxChatsPerPerson) throw tooManyChats(settings.maxChatsPerPerson);
      // A chat may shrink beyond the bound.
      if (total > settings.maxSizePerPerson && bytes > (current?.bytes ?? 0))
        throw noRoom(total, settings.maxSizePerPerson);
      const updatedAt = Date.now();
      const createdAt = current?.createdAt ?? updatedAt;
      if (isNew) await insertChat(executor, { ...place, ...row, createdAt, updatedAt });
      else await updateChat(executor, { ...place, revision }, { ...row, updatedAt });
      return { ...place, revision: row.revision, bytes, createdAt, updatedAt, title };
    });
  }

  /** Throws a Fault when the person has no such chat in the project. */
  async delete({ projectId, userId, id }: SavedChatPlace): Promise<void> {
    const count = await this.#options.database.run((executor) => deleteChats(executor, { projectId, userId, id }));
    if (count === 0) throw chatNotFound(id);
  }

  /** Deletes the person's chats in the project and returns their number. */
  async deleteAll({ projectId, userId }: ChatOwner): Promise<number> {
    return this.#options.database.run((executor) => deleteChats(executor, { projectId, userId }));
  }

  /** Throws a Fault where no chats are saved. */
  get #sealed(): SealedChats {
    const { sealed } = this.#options;
    if (sealed === undefined) throw savesNothing();
    return sealed;
  }

  #opened({ title, ...head }: SavedChatHead): SavedChat {
    return { ...head, title: this.#options.sealed?.openTitle(head, title) ?? null };
  }
}
