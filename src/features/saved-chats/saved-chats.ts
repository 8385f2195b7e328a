/** Conversations of the console's chat, each for the person who had it. */

import { setImmediate as nextTurn } from "node:timers/promises";
import type { Database } from "../../storage/database.ts";
import { type Page, pageOfRows } from "../../storage/page.ts";
import { reserveRoom } from "./chat-room.ts";
import { chatChanged, chatNotFound, savesNothing } from "./saved-chat-faults.ts";
import {
  type ChatOwner,
  deleteChats,
  findChat,
  findHead,
  findShareOf,
  insertChat,
  listChats,
  lockChatsOf,
  type SavedChatHead,
  updateChat,
} from "./saved-chat-queries.ts";
import type { SavedChatPlace, SealedChats } from "./sealed-chats.ts";
import type { SavedChatSettings } from "./settings.ts";

export interface SavedChat extends Omit<SavedChatHead, "title" | "folder" | "sharedOf"> {
  /** Null: no key of the service decrypts it, or chats are no longer saved. */
  title: string | null;
  folder: string | null;
  /** ID of the copy that members of the project read; null: it is not shared. */
  shareId: string | null;
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

export interface ChatArrangement {
  /** Null: in no folder. */
  folder: string | null;
  isPinned: boolean;
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
    const rows = await this.#options.database.run((executor) => listChats(executor, owner));
    const shares = new Map(rows.map(({ id, sharedOf }) => [sharedOf, id]));
    const heads = rows.filter(({ sharedOf }) => sharedOf === null);
    const opened = (head: SavedChatHead) => this.#opened(head, shares.get(head.id));
    if (query === undefined) {
      const { entries, hasMore } = pageOfRows(heads, { after, limit });
      return { entries: entries.map(opened), hasMore };
    }
    const text = query.toLowerCase();
    const matches: SavedChat[] = [];
    for (const [index, head] of heads.entries()) {
      if (index > 0 && index % TITLES_AT_ONCE === 0) await nextTurn();
      const chat = opened(head);
      if (chat.title?.toLowerCase().includes(text)) matches.push(chat);
    }
    return pageOfRows(matches, { after, limit });
  }

  /** Throws a Fault when the person has no such chat in the project. */
  async find(place: SavedChatPlace): Promise<SavedChat & { content: string }> {
    const sealed = this.#sealed;
    const { row, share } = await this.#options.database.run(async (executor) => ({
      row: await findChat(executor, place),
      share: await findShareOf(executor, place),
    }));
    if (row === undefined || row.sharedOf !== null) throw chatNotFound(place.id);
    const { content, ...head } = row;
    return { ...this.#opened(head, share?.id), content: await sealed.openContent(place, content) };
  }

  /** Finds a chat without its content. Throws a Fault when the person has no such chat in the project. */
  async head(place: SavedChatPlace): Promise<SavedChat> {
    return this.#options.database.run(async (executor) => {
      const head = await findHead(executor, place);
      if (head === undefined || head.sharedOf !== null) throw chatNotFound(place.id);
      return this.#opened(head, (await findShareOf(executor, place))?.id);
    });
  }

  /** Creates or replaces a chat. Throws a Fault when another change came first, or a bound is reached. */
  async put(place: SavedChatPlace, { title, content, revision }: ChatChange): Promise<SavedChat> {
    const { database, settings } = this.#options;
    const sealed = this.#sealed;
    const bytes = Buffer.byteLength(content);
    const row = { ...(await sealed.seal(place, { title, content })), bytes, revision: revision + 1 };
    return database.transaction(async (executor) => {
      await lockChatsOf(executor, place.userId);
      const current = await findHead(executor, place);
      if (current?.sharedOf != null || (current === undefined && revision > 0)) throw chatNotFound(place.id);
      if (current !== undefined && current.revision !== revision) {
        throw chatChanged(place.id, current.revision, revision);
      }
      await reserveRoom(executor, settings, { userId: place.userId, bytes, current });
      const updatedAt = Date.now();
      if (current === undefined) {
        const arrangement = { folder: null, isPinned: 0, sharedOf: null };
        await insertChat(executor, { ...place, ...row, ...arrangement, createdAt: updatedAt, updatedAt });
        return { ...place, ...arrangement, ...row, createdAt: updatedAt, updatedAt, title, shareId: null };
      }
      await updateChat(executor, { ...place, revision }, { ...row, updatedAt });
      const share = await findShareOf(executor, place);
      return { ...this.#opened({ ...current, ...row, updatedAt }, share?.id), title };
    });
  }

  /** Moves a chat to a folder and pins it, which changes neither its revision nor its time. */
  async arrange(place: SavedChatPlace, { folder, isPinned }: ChatArrangement): Promise<SavedChat> {
    const sealed = this.#sealed;
    return this.#options.database.transaction(async (executor) => {
      await lockChatsOf(executor, place.userId);
      const current = await findHead(executor, place);
      if (current === undefined || current.sharedOf !== null) throw chatNotFound(place.id);
      const change = { folder: sealed.sealFolder(place, folder), isPinned: Number(isPinned) };
      await updateChat(executor, current, change);
      return this.#opened({ ...current, ...change }, (await findShareOf(executor, place))?.id);
    });
  }

  /** Throws a Fault when the person has no such chat in the project. */
  async delete({ projectId, userId, id }: SavedChatPlace): Promise<void> {
    const count = await this.#options.database.run((executor) => deleteChats(executor, { projectId, userId, id }));
    if (count === 0) throw chatNotFound(id);
  }

  /** Deletes the person's chats in the project and returns their number. */
  async deleteAll({ projectId, userId }: ChatOwner): Promise<number> {
    return this.#options.database.transaction(async (executor) => {
      await lockChatsOf(executor, userId);
      const rows = await listChats(executor, { projectId, userId });
      await deleteChats(executor, { projectId, userId });
      return rows.filter(({ sharedOf }) => sharedOf === null).length;
    });
  }

  /** Throws a Fault where no chats are saved. */
  get #sealed(): SealedChats {
    const { sealed } = this.#options;
    if (sealed === undefined) throw savesNothing();
    return sealed;
  }

  #opened({ title, folder, sharedOf: _, ...head }: SavedChatHead, shareId: string | null = null): SavedChat {
    const { sealed } = this.#options;
    return {
      ...head,
      shareId,
      title: sealed?.openTitle(head, title) ?? null,
      folder: sealed?.openFolder(head, folder) ?? null,
    };
  }
}
