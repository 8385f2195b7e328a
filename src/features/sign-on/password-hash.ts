/** Hashes of passwords: argon2id, in the format of its reference implementation (PHC string format). */

import crypto, { randomBytes, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";
import pLimit from "p-limit";
import { Fault, unsupportedValue } from "../../kernel/faults.ts";
import type { Secret } from "../../kernel/secret.ts";

/** Memory in KiB and passes that OWASP's Password Storage Cheat Sheet recommends for one lane. */
const PARAMETERS = { memory: 19_456, passes: 2, parallelism: 1 } as const;
const SALT_BYTES = 16;
const TAG_BYTES = 32;
const FORMAT = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;
/** Each hash takes 19 MiB and a thread of the pool. */
const MAX_AT_ONCE = 2;
/** Hashes that wait for a thread: some two seconds on a busy machine. */
const MAX_WAITING = 16;

const limit = pLimit(MAX_AT_ONCE);

/** Throws a Fault when too many hashes wait. */
export async function hashPassword(password: Secret): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const { memory, passes, parallelism } = PARAMETERS;
  const tag = await derive(password, salt, PARAMETERS);
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${toBase64(salt)}$${toBase64(tag)}`;
}

/**
 * Takes the same time without a stored hash, so that answers do not reveal which users exist. Throws a Fault when too many
 * hashes wait.
 */
export async function verifyPassword(password: Secret, stored: string | undefined): Promise<boolean> {
  const [, memory, passes, parallelism, salt = "", expected = ""] = FORMAT.exec(stored ?? "") ?? [];
  if (memory === undefined) {
    await derive(password, Buffer.alloc(SALT_BYTES), PARAMETERS);
    return false;
  }
  const parameters = { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) };
  const tag = await derive(password, Buffer.from(salt, "base64"), parameters);
  const expectedTag = Buffer.from(expected, "base64");
  return tag.length === expectedTag.length && timingSafeEqual(tag, expectedTag);
}

interface Parameters {
  memory: number;
  passes: number;
  parallelism: number;
}

async function derive(password: Secret, nonce: Buffer, parameters: Parameters): Promise<Buffer> {
  // Node.js has it since 24.7.
  if (crypto.argon2 === undefined) throw unsupportedValue("Passwords need Node.js 24.7 or newer.", "password");
  if (limit.activeCount + limit.pendingCount >= MAX_AT_ONCE + MAX_WAITING) throw tooManySignIns();
  const hash = promisify(crypto.argon2);
  // The same text can be typed with different code points.
  const message = Buffer.from(password.reveal().normalize("NFKC"));
  return limit(() => hash("argon2id", { message, nonce, tagLength: TAG_BYTES, ...parameters }));
}

function tooManySignIns(): Fault {
  const message = `Too many people sign in at the moment: ${MAX_WAITING} passwords wait to be checked. Try again in a few seconds.`;
  return new Fault("request-rate-limited", message, { code: "too_many_sign_ins", retryAfterSeconds: 3 });
}

/** Base64 without padding, as in the PHC format. */
function toBase64(bytes: Buffer): string {
  return bytes.toString("base64").replace(/=+$/, "");
}
