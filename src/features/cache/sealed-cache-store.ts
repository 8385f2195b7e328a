/** Encrypts cached answers at rest, with the keys of stored responses. */

import type { NewStoredAnswer, StoredAnswer } from "../../inference/cache/cache-store.ts";
import { DecryptionError, type Keyring } from "../../kernel/encryption/keyring.ts";
import type { CacheBackend } from "./cache-backend.ts";

/** Wraps a backend. An answer that no key decrypts is not found: it expires, or is written again. */
export function sealed(backend: CacheBackend, keyring: Keyring): CacheBackend {
  return {
    get: async (key) => {
      const stored = await backend.get(key);
      return stored && open(stored, key, keyring);
    },
    put: (answer: NewStoredAnswer) =>
      backend.put({ ...answer, content: keyring.encrypt(answer.content, placeOf(answer.key)) }),
    purge: (filter) => backend.purge(filter),
    size: (organizationId) => backend.size(organizationId),
    removeExpired: (now) => backend.removeExpired(now),
    close: () => backend.close(),
  };
}

function open({ content, storedAt }: StoredAnswer, key: string, keyring: Keyring): StoredAnswer | undefined {
  try {
    return { content: keyring.decryptBytes(content, placeOf(key)), storedAt };
  } catch (failure) {
    if (failure instanceof DecryptionError) return undefined;
    throw failure;
  }
}

/** The key is a hash of the project, the model and the request, none of which another place has. */
function placeOf(key: string): string {
  return `cache ${key}`;
}
