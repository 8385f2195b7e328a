/** Makes keys, and forms of them that may be stored or shown. */

import { hash, randomBytes } from "node:crypto";
import { Secret } from "../secret.ts";

const RANDOM_BYTES = 32;
const PREFIX = { project: "sk-", admin: "sk-admin-" } as const;
/** A shorter key is shown as stars: four characters of it would be too large a part. */
const MIN_LENGTH_SHOWN = 20;
const LAST_CHARACTERS_SHOWN = 4;

/** `sk-…` or `sk-admin-…`, 256 bits from the system's random source. */
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

/** `sk-...wxyz`, enough to tell keys apart. A short key is stars only; what is not printable is shown as `?`. */
export function redactApiKey(key: string): string {
  if (key.length < MIN_LENGTH_SHOWN) return "*".repeat(key.length);
  const prefix = [PREFIX.admin, PREFIX.project].find((each) => key.startsWith(each)) ?? key.slice(0, 3);
  return `${prefix}...${key.slice(-LAST_CHARACTERS_SHOWN)}`.replace(/[^\x20-\x7e]/g, "?");
}
