/** Generates keys, and derives the forms that may be stored or shown. */

import { hash, randomBytes } from "node:crypto";
import { Secret } from "../../../kernel/secret.ts";

const RANDOM_BYTES = 32;
const PREFIX = { project: "sk-", admin: "sk-admin-", restricted: "sk-admin-", operator: "sk-operator-" } as const;
/** Shorter keys are shown as stars, since four characters would be too large a part of them. */
const MIN_LENGTH_SHOWN = 20;
const LAST_CHARACTERS_SHOWN = 4;

/** Generates `sk-…`, `sk-admin-…` or `sk-operator-…` with 256 bits from the system's random source. */
export function makeApiKey(kind: keyof typeof PREFIX): Secret {
  return new Secret(PREFIX[kind] + randomBytes(RANDOM_BYTES).toString("base64url"));
}

/**
 * SHA-256 in hexadecimal. A slow hash guards secrets that people choose, which can be guessed; a key has at least
 * 192 random bits (an operator's own at least 32 characters), which cannot, and is hashed at every request.
 */
export function hashApiKey(key: string): string {
  return hash("sha256", key);
}

/**
 * Whether a key can be sent. The keys with which sessions and tokens call models cannot: their hash is that of no text in
 * a header, and names their owner instead.
 */
export function hasSecret({ keyHash }: { keyHash: string }): boolean {
  return !keyHash.includes(" ");
}

/** Shortens a key to `sk-...wxyz`, enough to distinguish keys. A short key is stars only; unprintable characters become `?`. */
export function redactApiKey(key: string): string {
  if (key.length < MIN_LENGTH_SHOWN) return "*".repeat(key.length);
  const prefix =
    [PREFIX.admin, PREFIX.operator, PREFIX.project].find((each) => key.startsWith(each)) ?? key.slice(0, 3);
  return `${prefix}...${key.slice(-LAST_CHARACTERS_SHOWN)}`.replace(/[^\x20-\x7e]/g, "?");
}
