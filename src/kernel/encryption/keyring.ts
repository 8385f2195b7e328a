/** Encrypts content at rest. Every ciphertext names its key, so that a new key does not make old content unreadable. */

import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import type { Secret } from "../secret.ts";

/**
 * AES-256-GCM (NIST SP 800-38D). Random nonces of 96 bits allow 2^32 encryptions per key, a hundred per second for a
 * year.
 */
const CIPHER = "aes-256-gcm";
const VERSION = 1;
const KEY_ID_BYTES = 8;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEADER_BYTES = 1 + KEY_ID_BYTES + NONCE_BYTES;

interface DerivedKey {
  /** Shown in ciphertexts: a part of the derivation that reveals nothing about the key. */
  id: Buffer;
  key: Buffer;
  /** For keyed hashes of words. */
  searchKey: Buffer;
}

/** Content that no key of the ring decrypts: written with a removed key, truncated or altered. */
export class DecryptionError extends Error {
  override readonly name = "DecryptionError";
}

export class Keyring {
  readonly #current: DerivedKey;
  readonly #keys: ReadonlyMap<string, DerivedKey>;

  /** Keys for keyed hashes, the current one first. */
  readonly searchKeys: readonly Buffer[];

  /** Encrypts with the first secret and decrypts with each of them. */
  constructor(secrets: readonly [Secret, ...Secret[]]) {
    const [current, ...former] = secrets;
    this.#current = derive(current);
    const keys = [this.#current, ...former.map(derive)];
    this.#keys = new Map(keys.map((key) => [key.id.toString("hex"), key]));
    this.searchKeys = keys.map(({ searchKey }) => searchKey);
  }

  /** First bytes of what the current key encrypts. */
  get currentHeader(): Buffer {
    return Buffer.concat([Buffer.of(VERSION), this.#current.id]);
  }

  /** Returns version, key id, nonce, ciphertext and tag. `place` binds the content to its row: no other row decrypts it. */
  encrypt(content: string | Uint8Array, place: string): Buffer {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.#current.key, nonce, { authTagLength: TAG_BYTES });
    cipher.setAAD(Buffer.from(place));
    const encrypted = typeof content === "string" ? cipher.update(content, "utf8") : cipher.update(content);
    return Buffer.concat([Buffer.of(VERSION), this.#current.id, nonce, encrypted, cipher.final(), cipher.getAuthTag()]);
  }

  /** A key of 32 bytes for content that is encrypted elsewhere, such as in a child process. */
  keyFor(purpose: string): Uint8Array {
    return new Uint8Array(hkdfSync("sha256", this.#current.key, "", `parlance ${purpose} 1`, 32));
  }

  /** Whether content was encrypted with the key that encrypts now. */
  isCurrent(sealed: Buffer): boolean {
    return sealed.subarray(1, 1 + KEY_ID_BYTES).equals(this.#current.id);
  }

  /** Throws a DecryptionError. */
  decrypt(sealed: Buffer, place: string): string {
    return this.decryptBytes(sealed, place).toString("utf8");
  }

  /** Throws a DecryptionError. */
  decryptBytes(sealed: Buffer, place: string): Buffer {
    if (sealed.length < HEADER_BYTES + TAG_BYTES || sealed[0] !== VERSION) {
      throw new DecryptionError(`${place} is not encrypted content of version ${VERSION}`);
    }
    const id = sealed.subarray(1, 1 + KEY_ID_BYTES).toString("hex");
    const key = this.#keys.get(id);
    if (key === undefined) throw new DecryptionError(`${place} was encrypted with the key ${id}, which is not set`);
    const nonce = sealed.subarray(1 + KEY_ID_BYTES, HEADER_BYTES);
    const decipher = createDecipheriv(CIPHER, key.key, nonce, { authTagLength: TAG_BYTES });
    decipher.setAAD(Buffer.from(place));
    decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
    try {
      const content = decipher.update(sealed.subarray(HEADER_BYTES, -TAG_BYTES));
      return Buffer.concat([content, decipher.final()]);
    } catch (cause) {
      throw new DecryptionError(`${place} has been altered`, { cause });
    }
  }
}

function derive(secret: Secret): DerivedKey {
  const part = (purpose: string, bytes: number) =>
    Buffer.from(hkdfSync("sha256", secret.reveal(), "", `parlance ${purpose} 1`, bytes));
  return { id: part("key id", KEY_ID_BYTES), key: part("content key", 32), searchKey: part("search key", 32) };
}
