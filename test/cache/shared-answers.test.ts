/** Cached answers that replicas share in Redis and in the database, and what happens when Redis is away. */

import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sharedPostgres } from "../support/databases/postgres.ts";
import { HAS_REDIS, startRedis, WITHOUT_REDIS } from "../support/databases/redis.ts";
import { eventually } from "../support/service/eventually.ts";
import { type Service, startService } from "../support/service/service.ts";
import { type CountingUpstream, startCountingUpstream } from "../support/upstreams/counting-upstream.ts";

const lifetime = new AsyncDisposableStack();
let upstream: CountingUpstream;
beforeAll(async () => {
  upstream = await startCountingUpstream();
  lifetime.defer(() => upstream.close());
});
afterAll(() => lifetime.disposeAsync());

async function startReplica(store: string, environment: Record<string, string>): Promise<Service> {
  const service = await startService({
    config: `
builtin_models: false
cache: { store: ${store} }
models:
  - { id: cached, task: chat, cache: {}, deployments: [{ engine: openai-compatible, base_url: "${upstream.baseUrl}" }] }
`,
    environment: { PARLANCE_ENCRYPTION_KEY: "e".repeat(40), ...environment },
  });
  lifetime.defer(async () => void (await service.stop()));
  return service;
}

async function ask(service: Service, content: string) {
  const body = { model: "cached", temperature: 0, messages: [{ role: "user", content }] };
  const response = await service.post("/v1/chat/completions", body);
  return { status: response.status, cache: response.headers.get("x-parlance-cache"), text: await response.text() };
}

async function startReplicas(store: string, redisUrl?: string): Promise<[Service, Service]> {
  const database = await (await sharedPostgres()).createDatabase();
  const environment = { DATABASE_URL: database.reveal(), ...(redisUrl !== undefined && { REDIS_URL: redisUrl }) };
  return [await startReplica(store, environment), await startReplica(store, environment)];
}

async function expectShared([one, other]: [Service, Service]): Promise<void> {
  let pauseMs = 0;
  await eventually(async () => {
    // One that asks before the answer is stored keeps its own.
    const content = randomUUID();
    const first = await ask(one, content);
    expect(first.cache).toBe("miss");
    pauseMs += 10;
    await pause(pauseMs);
    const second = await ask(other, content);
    expect([second.cache, second.text]).toEqual(["hit", first.text]);
  });
}

describe("replicas", () => {
  test("share answers in PostgreSQL", async () => {
    const replicas = await startReplicas("database");
    await expectShared(replicas);
  });

  test.skipIf(!HAS_REDIS)(
    `share answers in Redis, and answer without it while it is away${WITHOUT_REDIS}`,
    async () => {
      const redis = lifetime.use(await startRedis());
      const [one, other] = await startReplicas("redis", redis.createDatabase().reveal());
      await expectShared([one, other]);
      await redis.stop();
      const content = randomUUID();
      const [first, second] = [await ask(one, content), await ask(one, content)];
      expect([first.status, second.status, second.cache]).toEqual([200, 200, "miss"]);
      await redis.start();
      await eventually(async () => {
        await ask(one, content);
        expect((await ask(one, content)).cache).toBe("hit");
      });
    },
  );
});

test("a store without its address or key fails the start, and says what to set", async () => {
  await expect(startReplica("redis", {})).rejects.toThrow(/set REDIS_URL/);
  const database = (await (await sharedPostgres()).createDatabase()).reveal();
  const withoutKey = { DATABASE_URL: database, PARLANCE_ENCRYPTION_KEY: "" };
  await expect(startReplica("database", withoutKey)).rejects.toThrow(/PARLANCE_ENCRYPTION_KEY/);
});
