import { DecryptionError, type Keyring } from "../../kernel/encryption/keyring.ts";

/** Encrypts summaries of compacted conversations, which clients keep: only the same project can use one. */
export class SealedSummaries {
  readonly #keyring: Keyring;

  constructor(keyring: Keyring) {
    this.#keyring = keyring;
  }

  seal(projectId: string, summary: string): string {
    return this.#keyring.encrypt(summary, placeOf(projectId)).toString("base64");
  }

  /** Returns undefined for a text of another project or service, or without its key. */
  open(projectId: string, content: string): string | undefined {
    try {
      return this.#keyring.decrypt(Buffer.from(content, "base64"), placeOf(projectId));
    } catch (failure) {
      if (failure instanceof DecryptionError) return undefined;
      throw failure;
    }
  }
}

function placeOf(projectId: string): string {
  return `summary ${projectId}`;
}
