/** Limits, budgets and reports of a key that is rotated: the keys of one line count as one. */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sharedPostgres } from "../support/databases/postgres.ts";
import { HAS_REDIS, startRedis } from "../support/databases/redis.ts";
import { eventually } from "../support/service/eventually.ts";
import { type Service, startService } from "../support/service/service.ts";

/** Each answer costs ten cents. */
const CONFIG = `
builtin_models: false
limits:
  key: { requests_per_day: 9 }
models:
  - id: parrot
    task: chat
    price: { completion: "0.1" }
    deployments: [{ engine: scripted, slots: 200, replies: [{ text: Polly }] }]
`;

const postgres = await sharedPostgres();
const redis = HAS_REDIS ? await startRedis() : undefined;
afterAll(() => redis?.[Symbol.asyncDispose]());

const postgresUrl = async () => ({ DATABASE_URL: (await postgres.createDatabase()).reveal() });
const STORES: [string, () => Promise<Record<string, string>>][] = [
  ["SQLite", async () => ({})],
  ["PostgreSQL", postgresUrl],
];
if (redis !== undefined) {
  const redisUrl = async () => ({ ...(await postgresUrl()), REDIS_URL: redis.createDatabase().reveal() });
  STORES.push(["PostgreSQL and Redis", redisUrl]);
}

describe.each(STORES)("with %s", (_name, environment) => {
  let service: Service;
  beforeAll(async () => {
    service = await startService({ config: CONFIG, environment: await environment() });
  });
  afterAll(() => service?.stop());

  async function administer(method: string, path: string, body?: unknown) {
    const headers = { authorization: `Bearer ${service.adminKey}`, "content-type": "application/json" };
    const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
    const answer = await service.fetch(`/v1/organization${path}`, init);
    expect(answer.status, path).toBe(200);
    // biome-ignore lint/suspicious/noExplicitAny: the service checks its answers against their schemas
    return (await answer.json()) as any;
  }

  interface Key {
    id: string;
    value: string;
  }

  /** A project with a key, and what rotates a key of it. */
  async function newProject(name: string) {
    const { id } = await administer("POST", "/projects", { name });
    const { api_key: key } = await administer("POST", `/projects/${id}/service_accounts`, { name });
    const rotate = (old: Key, overlap_seconds: number): Promise<Key> =>
      administer("POST", `/projects/${id}/api_keys/${old.id}/rotate`, { overlap_seconds });
    return { id, key: key as Key, rotate };
  }

  async function statusOf({ value }: Key): Promise<number> {
    const body = { model: "parrot", messages: [{ role: "user", content: "Hm." }], max_completion_tokens: 1 };
    const answer = await service.post("/v1/chat/completions", body, { headers: { authorization: `Bearer ${value}` } });
    return answer.status;
  }

  async function statuses(key: Key, count: number): Promise<number[]> {
    const all: number[] = [];
    for (let request = 0; request < count; request += 1) all.push(await statusOf(key));
    return all;
  }

  const limit = (cents: number) => ({ currency: "USD", interval: "month", threshold_amount: cents });

  test.each([0, 3600])("counts a spend limit over a rotation with an overlap of %i seconds", async (overlap) => {
    const { id, key, rotate } = await newProject(`Spend ${overlap}`);
    await administer("POST", `/projects/${id}/api_keys/${key.id}/spend_limit`, limit(40));
    expect(await statuses(key, 2)).toEqual([200, 200]);
    const second = await rotate(key, overlap);
    expect(await statuses(second, 1)).toEqual([200]);
    const third = await rotate(second, overlap);
    expect(await administer("GET", `/projects/${id}/api_keys/${third.id}/spend_limit`)).toMatchObject(limit(40));
    expect(await statuses(third, 2)).toEqual([200, 429]);
    expect(await statuses(key, 1)).toEqual([overlap === 0 ? 401 : 429]);
  });

  test("counts what the earlier keys have spent against a limit that a later one gets", async () => {
    const { id, key, rotate } = await newProject("Later");
    expect(await statuses(key, 2)).toEqual([200, 200]);
    const second = await rotate(key, 0);
    await eventually(async () => expect(await costsByKey(id)).toEqual({ [key.id]: 0.2 }));
    await administer("POST", `/projects/${id}/api_keys/${second.id}/spend_limit`, limit(30));
    expect(await statuses(second, 2)).toEqual([200, 429]);
  });

  test.each(["named", "each"])("counts a budget of keys over a rotation: %s", async (which) => {
    const { id, key, rotate } = await newProject(`Budget ${which}`);
    const subject = { type: "api_key", ...(which === "named" && { id: key.id }) };
    await administer("POST", "/budgets", { project_id: id, interval: "month", threshold_amount: 30, subject });
    expect(await statuses(key, 2)).toEqual([200, 200]);
    expect(await statuses(await rotate(key, 0), 2)).toEqual([200, 429]);
  });

  test("applies a budget that names a rotated key to the line, and shows what the line has spent", async () => {
    const { key, rotate } = await newProject("Named later");
    expect(await statuses(key, 2)).toEqual([200, 200]);
    const second = await rotate(key, 3600);
    const subject = { type: "api_key", id: second.id };
    const budget = await administer("POST", "/budgets", { interval: "month", threshold_amount: 30, subject });
    const spent = async () => (await administer("GET", `/budgets/${budget.id}`)).usage.spent.value;
    await eventually(async () => expect(await spent()).toBeCloseTo(0.2));
    expect(await statuses(second, 1)).toEqual([200]);
    expect(await statuses(key, 1)).toEqual([429]);
    expect(await statuses(await rotate(second, 0), 1)).toEqual([429]);
  });

  test("counts the requests of a key over a rotation", async () => {
    const { key, rotate } = await newProject("Requests");
    expect(await statuses(key, 7)).toEqual(Array.from({ length: 7 }, () => 200));
    expect(await statuses(await rotate(key, 0), 3)).toEqual([200, 200, 429]);
  });

  test("reports usage by the key that made the request", async () => {
    const { id, key, rotate } = await newProject("Report");
    expect(await statuses(key, 2)).toEqual([200, 200]);
    const second = await rotate(key, 0);
    expect(await statuses(second, 1)).toEqual([200]);
    await eventually(async () => expect(await costsByKey(id)).toEqual({ [key.id]: 0.2, [second.id]: 0.1 }));
    expect(await costsByKey(id, second.id)).toEqual({ [second.id]: 0.1 });
  });

  async function costsByKey(projectId: string, keyId?: string): Promise<Record<string, number>> {
    const start = Math.floor(Date.now() / 1000) - 86_400;
    const filter = keyId === undefined ? "" : `&api_key_ids=${keyId}`;
    const query = `start_time=${start}&group_by=api_key_id&project_ids=${projectId}${filter}`;
    const { data } = await administer("GET", `/costs?${query}`);
    // biome-ignore lint/suspicious/noExplicitAny: the service checks its answers against their schemas
    const results: any[] = data.flatMap((bucket: any) => bucket.results);
    return Object.fromEntries(results.map((each) => [each.api_key_id, Math.round(each.amount.value * 100) / 100]));
  }
});
