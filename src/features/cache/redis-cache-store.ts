import { RESP_TYPES } from "@redis/client";
import { connectToRedis, type RedisConnection } from "../../counters/redis-connection.ts";
import type { CacheSize, NewStoredAnswer, PurgeFilter, StoredAnswer } from "../../inference/cache/cache-store.ts";
import type { RedisAddress } from "../../kernel/redis-address.ts";
import type { CacheBackend } from "./cache-backend.ts";
import { matches } from "./memory-cache-store.ts";
import { CACHE_PREFIX, CACHE_SCRIPT } from "./redis-cache-script.ts";

type Facts = Omit<NewStoredAnswer, "content" | "key">;

/** Entries that one step of a scan reads. */
const SCANNED_AT_ONCE = 500;
const TIME_BYTES = 8;

/** Cached answers in Redis or Valkey, which replicas share. Connects when it is first used, and again after a loss. */
export class RedisCacheStore implements CacheBackend {
  readonly #address: RedisAddress;
  readonly #maxBytes: number;
  #connecting: Promise<RedisConnection> | undefined;
  #script = "";
  #isClosed = false;

  constructor(address: RedisAddress, maxBytes: number) {
    this.#address = address;
    this.#maxBytes = maxBytes;
  }

  async get(key: string): Promise<StoredAnswer | undefined> {
    const connection = (await this.#connected()).withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer });
    const value = (await connection.get(`${CACHE_PREFIX}answer ${key}`)) as Buffer | null;
    if (value === null) return undefined;
    return { storedAt: value.readDoubleBE(0), content: value.subarray(TIME_BYTES) };
  }

  async put({ key, content, ...facts }: NewStoredAnswer): Promise<void> {
    const time = Buffer.alloc(TIME_BYTES);
    time.writeDoubleBE(facts.storedAt);
    const value = Buffer.concat([time, content]);
    const milliseconds = Math.max(1, facts.expiresAt - Date.now());
    const words = [facts.storedAt, milliseconds, this.#maxBytes, content.length, JSON.stringify(facts)];
    await this.#run(["put", key, ...words.map(String), value]);
  }

  purge(filter: PurgeFilter): Promise<number> {
    return this.#removeEach((facts, key) => matches({ ...facts, key }, filter));
  }

  async removeExpired(now: number): Promise<void> {
    await this.#removeEach(({ expiresAt }) => expiresAt <= now);
  }

  async size(organizationId?: string): Promise<CacheSize> {
    if (organizationId === undefined) {
      const [answers, bytes] = (await this.#run(["size"])) as [number, string];
      return { answers, bytes: Number(bytes) };
    }
    let [answers, bytes] = [0, 0];
    for await (const entries of this.#scan()) {
      const entriesOfOrganization = entries.filter(([, facts]) => facts.organizationId === organizationId);
      answers += entriesOfOrganization.length;
      if (entriesOfOrganization.length > 0)
        bytes += Number(await this.#run(["bytes", ...entriesOfOrganization.map(([key]) => key)]));
    }
    return { answers, bytes };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const connection = await this.#connecting?.catch(() => undefined);
    if (connection?.isOpen === true) connection.destroy();
  }

  async #removeEach(isRemoved: (facts: Facts, key: string) => boolean): Promise<number> {
    let removed = 0;
    for await (const entries of this.#scan()) {
      const keys = entries.flatMap(([key, facts]) => (isRemoved(facts, key) ? [key] : []));
      if (keys.length > 0) removed += Number(await this.#run(["remove", ...keys]));
    }
    return removed;
  }

  async *#scan(): AsyncGenerator<[key: string, facts: Facts][]> {
    const connection = await this.#connected();
    let cursor = "0";
    do {
      const step = await connection.hScan(`${CACHE_PREFIX}facts`, cursor, { COUNT: SCANNED_AT_ONCE });
      yield step.entries.map(({ field, value }) => [String(field), JSON.parse(String(value)) as Facts]);
      cursor = String(step.cursor);
    } while (cursor !== "0");
  }

  async #run(words: (string | Buffer)[]): Promise<unknown> {
    const connection = await this.#connected();
    return await connection.evalSha(this.#script, { keys: [], arguments: words as string[] });
  }

  #connected(): Promise<RedisConnection> {
    if (this.#isClosed) return Promise.reject(new Error("the cache is closed"));
    this.#connecting ??= this.#connect().catch((failure: unknown) => {
      this.#connecting = undefined;
      throw failure;
    });
    return this.#connecting;
  }

  async #connect(): Promise<RedisConnection> {
    const connection = await connectToRedis(this.#address, CACHE_PREFIX, () => {
      this.#connecting = undefined;
      if (connection.isOpen) connection.destroy();
    });
    this.#script = await connection.scriptLoad(CACHE_SCRIPT);
    return connection;
  }
}
