/** Requests that clients may send twice, as with a retry after a lost answer: the second one gets the first one's answer. */

import { hash } from "node:crypto";
import { DAY_MS, MINUTE_MS } from "../../kernel/durations.ts";
import { Keyring } from "../../kernel/encryption/keyring.ts";
import { Fault, invalidRequest } from "../../kernel/faults.ts";
import { growingCache } from "../../kernel/growing-cache.ts";
import { Secret } from "../../kernel/secret.ts";
import type { Database, Executor } from "../../storage/database.ts";
import {
  countIdempotentRequests,
  findIdempotentRequest,
  insertIdempotentRequest,
  removeIdempotentRequest,
  renewIdempotentRequest,
  storeAnswer,
  sumAnswerBytes,
} from "./idempotent-request-queries.ts";
import type { IdempotentRequestRow } from "./idempotent-request-rows.ts";

const KEPT_MS = DAY_MS;
/** A request that runs longer has lost its process. */
const MAX_RUNNING_MS = MINUTE_MS;
/** Requests that one key may have in a day. */
const MAX_PER_KEY = 10_000;
/** Answers of one key together. */
const MAX_BYTES_PER_KEY = 64 * 1024 ** 2;
/** Summing reads each row of the key: less often than once per request. */
const SUM_AGE_MS = MINUTE_MS;
const MAX_SUMS = 10_000;
/** Objects of the API are smaller; a larger answer is not repeated. */
const MAX_ANSWER_BYTES = 256 * 1024;
const MAX_KEY_LENGTH = 255;

export interface IncomingRequest {
  keyId: string;
  /** The operator's key acts in several. */
  organizationId: string;
  method: string;
  path: string;
  /** Value of the header. */
  idempotencyKey: string;
  body: unknown;
}

export interface RepeatedAnswer {
  status: number;
  body: string;
}

/** A request that runs for the first time. */
export interface FirstRequest {
  /** Stores the answer of a request that succeeded; any other one may be sent again. */
  end(status: number, body: string): Promise<void>;
}

export class IdempotentRequests {
  readonly #database: Database;
  /** Bytes of the answers of a key: those that were summed, and those that this process stored since. */
  readonly #sums = growingCache<{ bytes: number; summedAt: number }>(MAX_SUMS);

  constructor(database: Database) {
    this.#database = database;
  }

  /** Returns the answer that an equal request got, or what ends this one. Throws a Fault. */
  async begin(request: IncomingRequest): Promise<RepeatedAnswer | FirstRequest> {
    const { idempotencyKey, keyId, organizationId } = request;
    if (idempotencyKey.length > MAX_KEY_LENGTH) throw tooLong(idempotencyKey);
    const now = Date.now();
    const row: IdempotentRequestRow = {
      id: hash("sha256", JSON.stringify([keyId, organizationId, request.method, request.path, idempotencyKey])),
      keyId,
      bodyHash: hash("sha256", JSON.stringify(request.body ?? null)),
      status: null,
      answer: null,
      createdAt: now,
      expiresAt: now + KEPT_MS,
    };
    const former = await this.#database.transaction(async (executor) => {
      if (await insertIdempotentRequest(executor, row)) {
        if ((await countIdempotentRequests(executor, keyId, now)) > MAX_PER_KEY) throw tooMany();
        if ((await this.#bytesOf(executor, keyId, now)) >= MAX_BYTES_PER_KEY) throw tooLarge();
        return undefined;
      }
      const existing = await findIdempotentRequest(executor, row.id);
      if (existing === undefined) throw stillRunning();
      const isOver =
        existing.expiresAt <= now || (existing.status === null && existing.createdAt <= now - MAX_RUNNING_MS);
      if (!isOver) return existing;
      if (await renewIdempotentRequest(executor, existing, row)) return undefined;
      throw stillRunning();
    });
    if (former === undefined) return { end: (status, body) => this.#end(row, idempotencyKey, status, body) };
    if (former.bodyHash !== row.bodyHash) throw otherBody();
    if (former.status === null || former.answer === null) throw stillRunning();
    return { status: former.status, body: keyringOf(idempotencyKey).decrypt(former.answer, former.id) };
  }

  /** Returns the bytes of answers that a key has. Where they decide, expired ones count for a minute more at the latest. */
  async #bytesOf(executor: Executor, keyId: string, now: number): Promise<number> {
    const sum = this.#sums.get(keyId);
    const isFull = sum !== undefined && sum.bytes >= MAX_BYTES_PER_KEY;
    if (sum !== undefined && !(isFull && sum.summedAt <= now - SUM_AGE_MS)) return sum.bytes;
    const bytes = await sumAnswerBytes(executor, keyId);
    this.#sums.set(keyId, { bytes, summedAt: now });
    return bytes;
  }

  async #end(row: IdempotentRequestRow, idempotencyKey: string, status: number, body: string): Promise<void> {
    const isRepeatable = status >= 200 && status < 300 && Buffer.byteLength(body) <= MAX_ANSWER_BYTES;
    const answer = isRepeatable ? keyringOf(idempotencyKey).encrypt(body, row.id) : undefined;
    await this.#database.run((executor) =>
      answer === undefined ? removeIdempotentRequest(executor, row) : storeAnswer(executor, row, { status, answer }),
    );
    const sum = this.#sums.get(row.keyId);
    if (sum !== undefined && answer !== undefined) sum.bytes += answer.length;
  }
}

/** Whoever reads the database alone cannot read answers, which needs no key of the operator. */
function keyringOf(idempotencyKey: string): Keyring {
  return new Keyring([new Secret(idempotencyKey)]);
}

function stillRunning(): Fault {
  const message = "A request with this Idempotency-Key is still running. Send it again to get its answer.";
  return new Fault("conflict", message, { code: "idempotency_key_in_use", retryAfterSeconds: 1 });
}

function otherBody(): Fault {
  const message =
    "This Idempotency-Key was used for another body within the last 24 hours. Send another key for another request.";
  return invalidRequest(message, undefined, "idempotency_key_reused");
}

function tooLong({ length }: string): Fault {
  const message = `The Idempotency-Key has ${length} characters; the maximum is ${MAX_KEY_LENGTH}.`;
  return invalidRequest(message, undefined, "invalid_value");
}

function tooMany(): Fault {
  const message = `This API key has sent ${MAX_PER_KEY} requests with an Idempotency-Key within 24 hours, the limit. Send others without the header.`;
  return new Fault("quota-exhausted", message, { code: "too_many_idempotency_keys" });
}

function tooLarge(): Fault {
  const message = `The answers to requests of this API key with an Idempotency-Key within 24 hours have ${MAX_BYTES_PER_KEY / 1024 ** 2} MiB, the limit. Send others without the header.`;
  return new Fault("quota-exhausted", message, { code: "too_many_idempotency_keys" });
}
