/** Values of configuration entries, whose secrets are encrypted. */

import { DecryptionError, type Keyring } from "../../kernel/encryption/keyring.ts";
import { Fault } from "../../kernel/faults.ts";
import type { EntryName } from "./configuration-rows.ts";
import { type Secrets, type SplitValue, splitSecrets } from "./entry-secrets.ts";

/** The columns of a value. */
export interface SealedValue {
  /** JSON without the secrets. */
  value: string;
  secrets: Buffer | null;
}

export class SealedEntries {
  readonly #openKeyring: () => Keyring | undefined;
  #keyring: { opened: Keyring | undefined } | undefined;

  /** `openKeyring`: called when the first secret is read or written. */
  constructor(openKeyring: () => Keyring | undefined) {
    this.#openKeyring = openKeyring;
  }

  /** Throws a Fault for a value with secrets while there is no key. */
  seal(name: EntryName, value: unknown): SealedValue {
    const { open, secrets } = splitSecrets(value);
    return { value: JSON.stringify(open), secrets: this.#encrypted(name, secrets) };
  }

  /** Returns a value with its secrets; `problem`: why it has none although it should. */
  open(name: EntryName, { value, secrets: sealed }: SealedValue): SplitValue & { problem: string | undefined } {
    const open: unknown = JSON.parse(value);
    if (sealed === null) return { open, secrets: {}, problem: undefined };
    const secrets = this.#decrypted(name, sealed);
    if (secrets !== undefined) return { open, secrets: JSON.parse(secrets) as Secrets, problem: undefined };
    const problem = "its secrets cannot be decrypted with PARLANCE_ENCRYPTION_KEY or the key file";
    return { open, secrets: {}, problem };
  }

  /** Encrypts secrets with the current key; undefined: they are, or no key decrypts them. */
  renewed(name: EntryName, sealed: Buffer | null): Buffer | undefined {
    if (sealed === null || this.#opened?.isCurrent(sealed) !== false) return undefined;
    const secrets = this.#decrypted(name, sealed);
    return secrets === undefined ? undefined : this.#opened.encrypt(secrets, placeOf(name));
  }

  get #opened(): Keyring | undefined {
    this.#keyring ??= { opened: this.#openKeyring() };
    return this.#keyring.opened;
  }

  #encrypted(name: EntryName, secrets: Secrets): Buffer | null {
    if (Object.keys(secrets).length === 0) return null;
    const keyring = this.#opened;
    if (keyring === undefined) {
      const message =
        "Keys of upstreams are stored encrypted, and this service has no key for it. Set PARLANCE_ENCRYPTION_KEY and restart.";
      throw new Fault("conflict", message, { code: "no_encryption_key" });
    }
    return keyring.encrypt(JSON.stringify(secrets), placeOf(name));
  }

  #decrypted(name: EntryName, sealed: Buffer): string | undefined {
    try {
      return this.#opened?.decrypt(sealed, placeOf(name));
    } catch (error) {
      if (error instanceof DecryptionError) return undefined;
      throw error;
    }
  }
}

/** Place to which the ciphertext of an entry is bound. */
function placeOf({ kind, name }: EntryName): string {
  return `configuration ${kind} ${name}`;
}
