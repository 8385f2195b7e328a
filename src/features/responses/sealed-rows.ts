/** Encrypts and decrypts the content of rows. */

import { DecryptionError, type Keyring } from "../../kernel/encryption/keyring.ts";
import { Fault } from "../../kernel/faults.ts";
import type { Logger } from "../../kernel/logger.ts";

type Table = "response" | "conversation" | "item" | "events" | "eval run" | "eval item";

/** Place of a row's content, which the encryption binds it to. */
export interface RowPlace {
  table: Table;
  projectId: string;
  id: string;
}

export class SealedRows {
  readonly #keyring: Keyring;
  readonly #logger: Logger;
  readonly #onSealed: (projectId: string, bytes: number) => void;

  /** `onSealed`: called with the size of each row's new content. */
  constructor(keyring: Keyring, logger: Logger, onSealed: (projectId: string, bytes: number) => void = () => {}) {
    this.#keyring = keyring;
    this.#logger = logger;
    this.#onSealed = onSealed;
  }

  seal(place: RowPlace, value: unknown): Buffer {
    const content = this.#keyring.encrypt(JSON.stringify(value), toText(place));
    this.#onSealed(place.projectId, content.length);
    return content;
  }

  /** Throws a Fault when the key is missing or the row was altered, and logs the cause. */
  open<Value>(place: RowPlace, content: Buffer): Value {
    try {
      return JSON.parse(this.#keyring.decrypt(content, toText(place))) as Value;
    } catch (error) {
      if (!(error instanceof DecryptionError)) throw error;
      this.#logger.error({ error: error.message }, "stored content cannot be decrypted");
      const message = `The stored ${place.table} \`${place.id}\` cannot be decrypted with the keys of this service.`;
      throw new Fault("not-found", message, { cause: error });
    }
  }
}

function toText({ table, projectId, id }: RowPlace): string {
  return `${table} ${projectId} ${id}`;
}

declare module "../../storage/personal-data.ts" {
  interface PersonalContext {
    /** Decrypts stored content; undefined: there is no key. */
    content: SealedRows | undefined;
  }
}
