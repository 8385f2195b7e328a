/** What every store of cached answers does. */

import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { useDatabases } from "../../../test/support/databases/databases.ts";
import { HAS_REDIS, type RedisServer, startRedis, WITHOUT_REDIS } from "../../../test/support/databases/redis.ts";
import { Catalog } from "../../catalog/catalog.ts";
import type { NewStoredAnswer } from "../../inference/cache/cache-store.ts";
import { Keyring } from "../../kernel/encryption/keyring.ts";
import { createLogger } from "../../kernel/logger.ts";
import { parseRedisUrl } from "../../kernel/redis-address.ts";
import { Secret } from "../../kernel/secret.ts";
import { type Database, openDatabase } from "../../storage/database.ts";
import { BoundedCacheStore } from "./bounded-cache-store.ts";
import type { CacheBackend } from "./cache-backend.ts";
import { CacheUpkeep } from "./cache-upkeep.ts";
import { DatabaseCacheStore } from "./database-cache-store.ts";
import { MemoryCacheStore } from "./memory-cache-store.ts";
import { RedisCacheStore } from "./redis-cache-store.ts";
import { sealed } from "./sealed-cache-store.ts";

const MAX_BYTES = 10_000;
const databases = useDatabases();
const lifetime = new AsyncDisposableStack();
let redis: RedisServer;
beforeAll(async () => {
  if (HAS_REDIS) redis = lifetime.use(await startRedis());
});
afterAll(() => lifetime.disposeAsync());

async function openTestDatabase(kind: "sqlite" | "postgresql"): Promise<Database> {
  const database = openDatabase(await databases.create(kind));
  lifetime.defer(() => database.close());
  return database;
}

const STORES: Record<string, () => Promise<CacheBackend>> = {
  memory: async () => new MemoryCacheStore(MAX_BYTES),
  SQLite: async () => new DatabaseCacheStore(await openTestDatabase("sqlite"), MAX_BYTES),
  PostgreSQL: async () => new DatabaseCacheStore(await openTestDatabase("postgresql"), MAX_BYTES),
  ...(HAS_REDIS && {
    Redis: async () => new RedisCacheStore(parseRedisUrl(redis.createDatabase().reveal()), MAX_BYTES),
  }),
};

if (!HAS_REDIS) test.skip(`cached answers in Redis${WITHOUT_REDIS}`);

let clock = 0;

function answer(more: Partial<NewStoredAnswer> = {}): NewStoredAnswer {
  clock += 1;
  const storedAt = Date.now() - 60_000 + clock;
  return {
    key: randomUUID(),
    organizationId: "org_a",
    scopeId: "proj_a",
    model: "openai/gpt",
    catalogId: "openai/*",
    content: Buffer.from([0, 255, 128, 13, 10]),
    storedAt,
    expiresAt: storedAt + 3_600_000,
    ...more,
  };
}

async function open(name: string): Promise<CacheBackend> {
  const store = await (STORES[name] as () => Promise<CacheBackend>)();
  lifetime.defer(() => store.close());
  return store;
}

describe.each(Object.keys(STORES))("in %s", (name) => {
  test("returns the bytes and the time of what was stored last", async () => {
    const store = await open(name);
    const first = answer();
    await store.put(first);
    const replaced = answer({ key: first.key, content: Buffer.alloc(300, 7) });
    await store.put(replaced);
    const stored = await store.get(first.key);
    expect(stored?.storedAt).toBe(replaced.storedAt);
    expect(stored?.content.equals(replaced.content)).toBe(true);
    expect(await store.get("another")).toBeUndefined();
    expect(await store.size()).toEqual({ answers: 1, bytes: 300 });
  });

  test("does not return what has expired, and removes it", async () => {
    const store = await open(name);
    const expired = answer({ expiresAt: Date.now() + 1 });
    await store.put(expired);
    await store.put(answer());
    await expect.poll(() => store.get(expired.key)).toBeUndefined();
    await store.removeExpired(Date.now());
    expect(await store.size()).toEqual({ answers: 1, bytes: 5 });
  });

  test("removes the oldest beyond the maximum size", async () => {
    const store = await open(name);
    const all = Array.from({ length: 12 }, () => answer({ content: Buffer.alloc(1000, 1) }));
    for (const each of all) await store.put(each);
    const { bytes } = await store.size();
    expect(bytes).toBeLessThanOrEqual(MAX_BYTES);
    expect(bytes).toBeGreaterThanOrEqual(8000);
    expect(await store.get(all[0]?.key ?? "")).toBeUndefined();
    expect(await store.get(all[11]?.key ?? "")).toBeDefined();
  });

  test("purges by key, scope, model, catalog entry and organization, and counts", async () => {
    const store = await open(name);
    const [one, other, foreign] = [
      answer(),
      answer({ scopeId: "proj_b", model: "local", catalogId: "local" }),
      answer({ organizationId: "org_b", scopeId: "proj_c" }),
    ];
    const all = [one, other, foreign];
    const refill = () => Promise.all(all.map((each) => store.put(each)));
    const present = async () =>
      (await Promise.all(all.map(({ key }) => store.get(key)))).map((each) => each !== undefined);
    for (const [filter, remaining] of [
      [{ key: one.key }, [false, true, true]],
      [{ key: one.key, organizationId: "org_b" }, [true, true, true]],
      [{ scopeId: "proj_b" }, [true, false, true]],
      [{ model: "openai/gpt", organizationId: "org_a" }, [false, true, true]],
      [{ model: "openai/*" }, [false, true, false]],
      [{ organizationId: "org_a" }, [false, false, true]],
      [{}, [false, false, false]],
    ] as const) {
      await refill();
      expect(await store.purge(filter)).toBe(remaining.filter((isPresent) => !isPresent).length);
      expect(await present()).toEqual(remaining);
    }
    await refill();
    expect(await store.size("org_a")).toEqual({ answers: 2, bytes: 10 });
  });

  test("holds encrypted content, which a rotated key still reads and a removed key does not", async () => {
    const backend = await open(name);
    const [former, current] = [new Secret("f".repeat(32)), new Secret("c".repeat(32))];
    const stored = answer({ content: Buffer.from("a secret text") });
    await sealed(backend, new Keyring([former])).put(stored);
    expect((await backend.get(stored.key))?.content.includes("secret")).toBe(false);
    const rotated = sealed(backend, new Keyring([current, former]));
    expect((await rotated.get(stored.key))?.content.toString()).toBe("a secret text");
    const removed = sealed(backend, new Keyring([current]));
    expect(await removed.get(stored.key)).toBeUndefined();
    await removed.put(stored);
    expect((await removed.get(stored.key))?.content.toString()).toBe("a secret text");
  });

  test("loses the answers of archived projects and of changed models", async () => {
    const store = await open(name);
    const database = await openTestDatabase("sqlite");
    await database.run(async (executor) => {
      const organization = { id: "org_a", name: "A", isDefault: 0, createdAt: 1, archivedAt: null };
      await executor.insertInto("organizations").values(organization).execute();
      const project = { organizationId: "org_a", name: "P", isDefault: 0, createdAt: 1 };
      await executor
        .insertInto("projects")
        .values({ ...project, id: "proj_a", archivedAt: Date.now() })
        .execute();
    });
    const catalog = new Catalog();
    const withCache = (version: string) => [
      { id: "local", aliases: [], cache: { version, forwardedHeaders: () => ({}) } } as never,
    ];
    catalog.replace(withCache("1"));
    const options = { backend: store, catalog, database, logger: createLogger("silent") };
    using upkeep = new CacheUpkeep(options);
    const [archived, changed, other] = [
      answer(),
      answer({ scopeId: "proj_b", model: "local", catalogId: "local" }),
      answer({ scopeId: "proj_b" }),
    ];
    for (const each of [archived, changed, other]) await store.put(each);
    const present = async () =>
      (await Promise.all([archived, changed, other].map(({ key }) => store.get(key)))).map(
        (each) => each !== undefined,
      );
    await upkeep.run();
    expect(await present()).toEqual([false, true, true]);
    catalog.replace(withCache("2"));
    await upkeep.run();
    expect(await present()).toEqual([false, false, true]);
  });
});

describe("a store that is away", () => {
  const silent: CacheBackend = {
    get: () => new Promise(() => {}),
    put: () => Promise.reject(new Error("away")),
    purge: () => Promise.reject(new Error("away")),
    size: () => Promise.reject(new Error("away")),
    removeExpired: async () => {},
    close: async () => {},
  };

  test("is a miss after the time limit, and at once while it rests", async () => {
    const store = new BoundedCacheStore(silent, createLogger("silent"), 5);
    expect(await store.get("a")).toBeUndefined();
    let asked = 0;
    const counting = {
      ...silent,
      get: async () => {
        asked += 1;
        throw new Error("away");
      },
    };
    const resting = new BoundedCacheStore(counting, createLogger("silent"), 5);
    for (let each = 0; each < 10; each += 1) expect(await resting.get("a")).toBeUndefined();
    await resting.put(answer());
    expect(asked).toBe(1);
    await expect(resting.purge({})).rejects.toMatchObject({ kind: "unavailable" });
  });

  test.skipIf(!HAS_REDIS)(`is used again once Redis is back${WITHOUT_REDIS}`, async () => {
    await using server = await startRedis();
    const backend = new RedisCacheStore(parseRedisUrl(server.createDatabase().reveal()), MAX_BYTES);
    const store = new BoundedCacheStore(backend, createLogger("silent"));
    const stored = answer();
    await store.put(stored);
    expect(await store.get(stored.key)).toBeDefined();
    await server.stop();
    expect(await store.get(stored.key)).toBeUndefined();
    await server.start();
    await expect
      .poll(async () => {
        await store.put(stored);
        return await store.get(stored.key);
      })
      .toBeDefined();
    await backend.close();
  });

  test.skipIf(!HAS_REDIS)(`is a miss while Redis is frozen${WITHOUT_REDIS}`, async () => {
    await using server = await startRedis();
    const backend = new RedisCacheStore(parseRedisUrl(server.createDatabase().reveal()), MAX_BYTES);
    const store = new BoundedCacheStore(backend, createLogger("silent"), 20);
    const stored = answer();
    await backend.put(stored);
    server.signal("SIGSTOP");
    expect(await store.get(stored.key)).toBeUndefined();
    server.signal("SIGCONT");
    await expect.poll(() => store.get(stored.key)).toBeDefined();
    await backend.close();
  });
});
