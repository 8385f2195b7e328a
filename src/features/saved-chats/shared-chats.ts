/** Copies of chats that their person shows to the members of the project. */

import { newId } from "../../kernel/id.ts";
import { reserveRoom } from "./chat-room.ts";
import { chatNotFound, savesNothing, shareNotFound } from "./saved-chat-faults.ts";
import {
  deleteChats,
  findHead,
  findShare,
  findShareOf,
  insertChat,
  lockChatsOf,
  updateChat,
} from "./saved-chat-queries.ts";
import type { SavedChatsOptions } from "./saved-chats.ts";
import type { SavedChatPlace } from "./sealed-chats.ts";

export interface SharedChat {
  id: string;
  /** Null: no key of the service decrypts it. */
  title: string | null;
  /** Name of the person who shares it. */
  author: string;
  content: string;
  createdAt: number;
  updatedAt: number;
}

export class SharedChats {
  readonly #options: SavedChatsOptions;

  constructor(options: SavedChatsOptions) {
    this.#options = options;
  }

  /** Creates the copy, or replaces it under the same ID, and returns the ID. Throws a Fault without the chat. */
  async share(place: SavedChatPlace, text: { title: string; content: string }): Promise<string> {
    const { database, sealed, settings } = this.#options;
    if (sealed === undefined) throw savesNothing();
    const earlier = await database.run((executor) => findShareOf(executor, place));
    const copy = { ...place, id: earlier?.id ?? newId("share_") };
    const bytes = Buffer.byteLength(text.content);
    const row = { ...(await sealed.seal(copy, text)), bytes };
    return database.transaction(async (executor) => {
      await lockChatsOf(executor, place.userId);
      const chat = await findHead(executor, place);
      if (chat === undefined || chat.sharedOf !== null) throw chatNotFound(place.id);
      const current = await findShareOf(executor, place);
      // Another request may have ended or begun the sharing meanwhile; the columns are encrypted for one ID.
      if (current?.id !== earlier?.id) throw shareNotFound(copy.id);
      await reserveRoom(executor, settings, { userId: place.userId, bytes, current });
      const updatedAt = Date.now();
      if (current === undefined) {
        const head = { revision: 1, folder: null, isPinned: 0, sharedOf: place.id, createdAt: updatedAt, updatedAt };
        await insertChat(executor, { ...copy, ...row, ...head });
      } else await updateChat(executor, current, { ...row, revision: current.revision + 1, updatedAt });
      return copy.id;
    });
  }

  /** Deletes the copy. Throws a Fault when the chat is not shared. */
  async end(place: SavedChatPlace): Promise<void> {
    await this.#options.database.transaction(async (executor) => {
      await lockChatsOf(executor, place.userId);
      const copy = await findShareOf(executor, place);
      if (copy === undefined) throw shareNotFound(place.id);
      await deleteChats(executor, copy);
    });
  }

  /** Finds a copy in the project by its ID, whoever shares it. */
  async find({ projectId, id }: Pick<SavedChatPlace, "projectId" | "id">): Promise<SharedChat> {
    const { database, sealed } = this.#options;
    if (sealed === undefined) throw savesNothing();
    const row = await database.run((executor) => findShare(executor, { projectId, id }));
    if (row === undefined) throw shareNotFound(id);
    const { author, createdAt, updatedAt } = row;
    const content = await sealed.openContent(row, row.content);
    return { id, author, createdAt, updatedAt, title: sealed.openTitle(row, row.title), content };
  }
}
