/** Titles and contents of saved chats as they are stored: compressed, and encrypted for one person's row. */

import { promisify } from "node:util";
import { constants, deflateRaw, inflateRaw } from "node:zlib";
import { DecryptionError, type Keyring } from "../../kernel/encryption/keyring.ts";
import { Fault } from "../../kernel/faults.ts";
import type { Logger } from "../../kernel/logger.ts";
import type { SavedChatRow } from "./saved-chat-rows.ts";

export type SavedChatPlace = Pick<SavedChatRow, "projectId" | "userId" | "id">;

type SealedColumn = "title" | "content" | "folder";
type SealedColumns = Pick<SavedChatRow, SealedColumn>;

/** What encrypts saved chats. */
export interface ChatKeys {
  keyring: Keyring;
  sealed: SealedChats;
}

// In other threads: a conversation with images has megabytes.
const compress = promisify(deflateRaw);
const decompress = promisify(inflateRaw);

export class SealedChats {
  readonly #keyring: Keyring;
  readonly #logger: Logger;

  constructor(keyring: Keyring, logger: Logger) {
    this.#keyring = keyring;
    this.#logger = logger;
  }

  async seal(place: SavedChatPlace, { title, content }: { title: string; content: string }) {
    const compressed = await compress(content, { level: constants.Z_BEST_SPEED });
    return {
      title: this.#keyring.encrypt(title, toText("title", place)),
      content: this.#keyring.encrypt(compressed, toText("content", place)),
    };
  }

  /** Returns null when the key is missing or the row was altered: the list shows the other ones. */
  openTitle(place: SavedChatPlace, title: Buffer): string | null {
    return this.#decrypt(() => this.#keyring.decrypt(title, toText("title", place))) ?? null;
  }

  sealFolder(place: SavedChatPlace, folder: string | null): Buffer | null {
    return folder === null ? null : this.#keyring.encrypt(folder, toText("folder", place));
  }

  /** Returns null without a folder, and when the key is missing or the row was altered. */
  openFolder(place: SavedChatPlace, folder: Buffer | null): string | null {
    if (folder === null) return null;
    return this.#decrypt(() => this.#keyring.decrypt(folder, toText("folder", place))) ?? null;
  }

  /** Throws a Fault when the key is missing or the row was altered, and logs the cause. */
  async openContent(place: SavedChatPlace, content: Buffer): Promise<string> {
    const compressed = this.#decrypt(() => this.#keyring.decryptBytes(content, toText("content", place)));
    if (compressed !== undefined) return (await decompress(compressed)).toString("utf8");
    const message = `The saved chat \`${place.id}\` cannot be decrypted with the keys of this service.`;
    throw new Fault("not-found", message, { code: "chat_not_readable" });
  }

  /** Encrypts a row with the current key; undefined when no key decrypts it. */
  sealAgain({ title, content, folder, ...place }: SealedColumns & SavedChatPlace): SealedColumns | undefined {
    const sealAgain = (column: SealedColumn, bytes: Buffer) => {
      const context = toText(column, place);
      return this.#keyring.encrypt(this.#keyring.decryptBytes(bytes, context), context);
    };
    return this.#decrypt(() => ({
      title: sealAgain("title", title),
      content: sealAgain("content", content),
      folder: folder && sealAgain("folder", folder),
    }));
  }

  #decrypt<Result>(decrypt: () => Result): Result | undefined {
    try {
      return decrypt();
    } catch (failure) {
      if (!(failure instanceof DecryptionError)) throw failure;
      this.#logger.error({ error: failure.message }, "saved chat cannot be decrypted");
      return undefined;
    }
  }
}

function toText(column: SealedColumn, { projectId, userId, id }: SavedChatPlace): string {
  return `saved chat ${column} ${projectId} ${userId} ${id}`;
}

declare module "../../storage/personal-data.ts" {
  interface PersonalContext {
    /** Decrypts saved chats; left out: there is no key. */
    chats?: SealedChats | undefined;
  }
}
