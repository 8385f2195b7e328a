/** Comments of feedback as they are stored. */

import { DecryptionError, type Keyring } from "../../kernel/encryption/keyring.ts";

export function sealComment(keyring: Keyring, requestId: string, comment: string): Buffer {
  return keyring.encrypt(comment, placeOf(requestId));
}

/** Null for a comment without its key. */
export function openComment(keyring: Keyring | undefined, requestId: string, comment: Buffer): string | null {
  try {
    return keyring?.decrypt(comment, placeOf(requestId)) ?? null;
  } catch (failure) {
    if (failure instanceof DecryptionError) return null;
    throw failure;
  }
}

function placeOf(requestId: string): string {
  return `feedback ${requestId}`;
}
