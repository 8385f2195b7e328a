/** Secrets of endpoints: created here, stored encrypted, and bound to their endpoint, so that no other row decrypts them. */

import { randomBytes } from "node:crypto";
import { DecryptionError, type Keyring } from "../../../kernel/encryption/keyring.ts";
import { Fault } from "../../../kernel/faults.ts";
import { Secret } from "../../../kernel/secret.ts";

const SECRET_BYTES = 32;
const HINT_LENGTH = 4;

export interface NewSecret {
  secret: Secret;
  sealed: Buffer;
  hint: string;
}

export class EndpointSecrets {
  readonly #openKeyring: () => Keyring | undefined;
  #keyring: { opened: Keyring | undefined } | undefined;

  /** `openKeyring`: called when the first secret is read or written. */
  constructor(openKeyring: () => Keyring | undefined) {
    this.#openKeyring = openKeyring;
  }

  /** Creates a secret in the form of Standard Webhooks. Throws a Fault where the service has no encryption key. */
  create(endpointId: string): NewSecret {
    const keyring = this.#opened;
    if (keyring === undefined) {
      const message =
        "Secrets of webhook endpoints are stored encrypted, and this service has no encryption key. An operator sets PARLANCE_ENCRYPTION_KEY and restarts it.";
      throw new Fault("conflict", message, { code: "no_encryption_key" });
    }
    const text = `whsec_${randomBytes(SECRET_BYTES).toString("base64")}`;
    const hint = `whsec_...${text.replaceAll("=", "").slice(-HINT_LENGTH)}`;
    return { secret: new Secret(text), sealed: keyring.encrypt(text, placeOf(endpointId)), hint };
  }

  /** Undefined where no key decrypts it. */
  open(endpointId: string, sealed: Buffer): Secret | undefined {
    try {
      const text = this.#opened?.decrypt(sealed, placeOf(endpointId));
      return text === undefined ? undefined : new Secret(text);
    } catch (failure) {
      if (failure instanceof DecryptionError) return undefined;
      throw failure;
    }
  }

  /** Encrypts a secret with the current key; undefined: it is, or no key decrypts it. */
  renewed(endpointId: string, sealed: Buffer | null): Buffer | undefined {
    if (sealed === null || this.#opened?.isCurrent(sealed) !== false) return undefined;
    const secret = this.open(endpointId, sealed);
    return secret && this.#opened?.encrypt(secret.reveal(), placeOf(endpointId));
  }

  get #opened(): Keyring | undefined {
    this.#keyring ??= { opened: this.#openKeyring() };
    return this.#keyring.opened;
  }
}

function placeOf(endpointId: string): string {
  return `webhook endpoint ${endpointId}`;
}
