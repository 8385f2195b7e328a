import type { CacheSize, NewStoredAnswer, PurgeFilter, StoredAnswer } from "../../inference/cache/cache-store.ts";
import type { Database } from "../../storage/database.ts";
import type { PersonalData } from "../../storage/personal-data.ts";
import type { CacheBackend } from "./cache-backend.ts";
import {
  findAnswer,
  listOldestAnswers,
  removeAnswers,
  removeExpiredAnswers,
  removeMatchingAnswers,
  sumAnswers,
  writeAnswer,
} from "./cached-answer-queries.ts";

const REMOVED_AT_ONCE = 200;
/** Part of the maximum size that remains after answers were removed for it, which is then rarely necessary. */
const REMAINING = 0.9;

/** Cached answers in the database, which replicas share. */
export class DatabaseCacheStore implements CacheBackend {
  readonly #database: Database;
  readonly #maxBytes: number;
  /** Estimate: other replicas write, too. Undefined: not read yet. */
  #bytes: number | undefined;
  #trimming: Promise<void> | undefined;

  constructor(database: Database, maxBytes: number) {
    this.#database = database;
    this.#maxBytes = maxBytes;
  }

  get(key: string): Promise<StoredAnswer | undefined> {
    return this.#database.run((executor) => findAnswer(executor, key, Date.now()));
  }

  async put(answer: NewStoredAnswer): Promise<void> {
    await this.#database.run((executor) => writeAnswer(executor, answer));
    this.#bytes = (this.#bytes ?? this.#maxBytes) + answer.content.length;
    if (this.#bytes > this.#maxBytes) await this.#trim();
  }

  async purge(filter: PurgeFilter): Promise<number> {
    let removed = 0;
    for (;;) {
      const count = await this.#database.run((executor) => removeMatchingAnswers(executor, filter, REMOVED_AT_ONCE));
      removed += count;
      if (count < REMOVED_AT_ONCE) return removed;
    }
  }

  async size(organizationId?: string): Promise<CacheSize> {
    const size = await this.#database.run((executor) => sumAnswers(executor, organizationId, Date.now()));
    if (organizationId === undefined) this.#bytes = size.bytes;
    return size;
  }

  async removeExpired(now: number): Promise<void> {
    const remove = () => this.#database.run((executor) => removeExpiredAnswers(executor, now, REMOVED_AT_ONCE));
    while ((await remove()) === REMOVED_AT_ONCE);
    await this.#trim();
  }

  async close(): Promise<void> {
    await this.#trimming?.catch(() => {});
  }

  /** Removes the oldest answers until the others fit. */
  #trim(): Promise<void> {
    this.#trimming ??= this.#removeOldest().finally(() => {
      this.#trimming = undefined;
    });
    return this.#trimming;
  }

  async #removeOldest(): Promise<void> {
    let { bytes } = await this.#database.run((executor) => sumAnswers(executor, undefined, 0));
    const isTooLarge = bytes > this.#maxBytes;
    while (isTooLarge && bytes > REMAINING * this.#maxBytes) {
      const oldest = await this.#database.run((executor) => listOldestAnswers(executor, REMOVED_AT_ONCE));
      const keys: string[] = [];
      for (const answer of oldest) {
        if (bytes <= REMAINING * this.#maxBytes) break;
        keys.push(answer.key);
        bytes -= answer.bytes;
      }
      if (keys.length === 0) break;
      await this.#database.run((executor) => removeAnswers(executor, keys));
    }
    this.#bytes = bytes;
  }
}

/** Rows of cached answers. */

interface CachedAnswerRow {
  /** Hash of everything that determines the answer. */
  key: string;
  organizationId: string;
  /** Project, or the organization whose projects share the answer. */
  scopeId: string;
  /** Catalog ID that answered. */
  model: string;
  catalogId: string;
  /** Length of `content`. */
  bytes: number;
  storedAt: number;
  expiresAt: number;
  /** Encrypted events of the answer. */
  content: Buffer;
}

declare module "../../storage/schema.ts" {
  interface Schema {
    cachedAnswers: CachedAnswerRow;
  }
}

export const cachedAnswerData = {
  cachedAnswers: {
    reason: "Answers by the hash of their request, which names nobody; they expire.",
    impersonal: { model: "A model of the catalog." },
  },
} as const satisfies PersonalData;
