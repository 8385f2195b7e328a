/** Two real processes on one PostgreSQL, with and without Redis, that enforce one limit together. */

import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sharedPostgres } from "../support/databases/postgres.ts";
import { HAS_REDIS, type RedisServer, startRedis, WITHOUT_REDIS } from "../support/databases/redis.ts";
import { eventually } from "../support/service/eventually.ts";
import {
  admission,
  LOAD_MODEL,
  type Outcome,
  outcomeOf,
  sendLoad,
  slotsInUse,
  startReplicas,
  untilCountersShared,
} from "../support/service/limit-load.ts";
import type { ServiceProcess } from "../support/service/service-process.ts";

const postgres = await sharedPostgres();
const sharedRedis = HAS_REDIS ? await startRedis() : undefined;
afterAll(() => sharedRedis?.[Symbol.asyncDispose]());

interface Replicas {
  services: [ServiceProcess, ServiceProcess];
  stop(): Promise<void>;
}

async function start(redis: RedisServer | undefined, limits: string, more = ""): Promise<Replicas> {
  const environment: Record<string, string> = { DATABASE_URL: (await postgres.createDatabase()).reveal() };
  if (redis !== undefined) environment.REDIS_URL = redis.createDatabase().reveal();
  const { services, stop } = await startReplicas(2, `${LOAD_MODEL}${more}limits: ${limits}\n`, environment);
  return { services: services as [ServiceProcess, ServiceProcess], stop };
}

const chat = (content: string, max_completion_tokens: number, model = "parrot") => {
  return { model, messages: [{ role: "user", content }], max_completion_tokens };
};

const administrator = ({ baseUrl, adminKey }: ServiceProcess) =>
  new OpenAI({ baseURL: baseUrl, apiKey: null, adminAPIKey: adminKey, maxRetries: 0 }).admin.organization;

async function requestLimit(service: ServiceProcess): Promise<string | null> {
  const answer = await service.post("/v1/chat/completions", chat("Hm.", 5));
  return answer.headers.get("x-ratelimit-limit-requests");
}

async function changeRequestLimit(service: ServiceProcess, max_requests_per_1_minute: number): Promise<void> {
  const { projects } = administrator(service);
  const [project] = (await projects.list()).data;
  const scope = { project_id: project?.id ?? "" };
  const [limit] = (await projects.rateLimits.listRateLimits(scope.project_id)).data;
  await projects.rateLimits.updateRateLimit(limit?.id ?? "", { ...scope, max_requests_per_1_minute });
}

/** A replica reads all changes of accounts together: one with a visible effect ends the wait for those before it. */
async function untilChangesReach(
  other: ServiceProcess,
  service: ServiceProcess,
  requestsPerMinute: number,
): Promise<void> {
  await changeRequestLimit(service, requestsPerMinute);
  await expect.poll(() => requestLimit(other)).toBe(String(requestsPerMinute));
}

const running = (service: ServiceProcess) => slotsInUse(service, "sloth");

const BACKENDS = [
  [`Redis${WITHOUT_REDIS}`, true],
  ["PostgreSQL", false],
] as const;

// These mostly wait, so they run concurrently.
test(`serves from local shares while Redis is unavailable, logs it, and recovers${WITHOUT_REDIS}`, {
  concurrent: true,
  skip: !HAS_REDIS,
}, async ({ expect, onTestFinished }) => {
  const redis = await startRedis();
  onTestFinished(() => redis[Symbol.asyncDispose]());
  const { services, stop } = await start(redis, "{ project_model: { requests_per_minute: 10 } }");
  onTestFinished(stop);
  const [one, two] = services;
  const ask = async (service: ServiceProcess) => (await service.post("/v1/chat/completions", chat("Hm.", 5))).status;
  const metric = async (service: ServiceProcess) =>
    /^parlance_shared_counters_up .*$/m.exec(await (await service.fetch("/metrics")).text())?.[0];
  await redis.stop();
  try {
    const answers = await Promise.all(services.flatMap((service) => Array.from({ length: 8 }, () => ask(service))));
    expect(answers.filter((status) => status === 200)).toHaveLength(10);
    expect(answers.filter((status) => status === 429)).toHaveLength(6);
    expect(await metric(one)).toBe("parlance_shared_counters_up 0");
    const warning = {
      level: "error",
      msg: "shared counters are unavailable",
      store: "Redis",
      replicas: 2,
      onStoreUnavailable: "share",
    };
    expect(one.log()).toContainEqual(expect.objectContaining(warning));
    // The administration API does not use counters.
    expect((await administrator(two).projects.list()).data).toHaveLength(1);
  } finally {
    await redis.start();
  }
  await untilCountersShared(services, 2);
  expect(await metric(two)).toBe("parlance_shared_counters_up 1");
  expect([await ask(one), await ask(two)]).toEqual([429, 429]);
});

test(`rejects requests while Redis is unavailable when configured${WITHOUT_REDIS}`, {
  concurrent: true,
  skip: !HAS_REDIS,
}, async ({ expect, onTestFinished }) => {
  const redis = await startRedis();
  onTestFinished(() => redis[Symbol.asyncDispose]());
  const { services, stop } = await start(
    redis,
    "{ key: { requests_per_minute: 100 }, on_counters_unavailable: refuse }",
  );
  onTestFinished(stop);
  const [one] = services;
  await redis.stop();
  try {
    const refused = await one.post("/v1/chat/completions", chat("Hm.", 5));
    expect(refused.status).toBe(503);
    expect(refused.headers.get("retry-after")).toBe("1");
    expect(await refused.json()).toMatchObject({ error: { type: "service_unavailable_error" } });
    const wrong = { headers: { authorization: `Bearer sk-${"w".repeat(40)}` } };
    expect((await one.fetch("/v1/models", wrong)).status).toBe(401);
  } finally {
    await redis.start();
  }
  const status = async () => (await one.post("/v1/chat/completions", chat("Hm.", 5))).status;
  await expect.poll(status).toBe(200);
});

describe.concurrent.each(BACKENDS)("counting in %s", (_name, useRedis) => {
  const onBackend = test.skipIf(useRedis && !HAS_REDIS);
  const title = "requests at once are bounded over both, and a killed one's come back after its lease";
  onBackend(title, async ({ expect, onTestFinished }) => {
    const sloth =
      "  - { id: sloth, task: chat, deployments: [{ engine: scripted, slots: 9, replies: [{ text: Hm, delay_ms_before_first: 600000 }] }] }\n";
    const redis = useRedis ? sharedRedis : undefined;
    const { services, stop } = await start(redis, "{ project_model: { concurrent_requests: 3 } }", sloth);
    onTestFinished(stop);
    const [dying, living] = services;
    const leaving = new AbortController();
    const send = (service: ServiceProcess, signal: AbortSignal) =>
      service.post("/v1/chat/completions", chat("Hm.", 5, "sloth"), { signal });
    // A replica that waits for a busy machine's Redis admits no more than its share.
    const hold = async (service: ServiceProcess) => {
      while ((await send(service, leaving.signal)).status === 429);
    };
    const held = [dying, dying, living].map((service) => hold(service).catch(() => undefined));
    const other = () => admission(living, "sloth", (signal) => send(living, signal));
    await expect.poll(async () => (await running(dying)) + (await running(living))).toBe(3);
    expect(await other()).toBe(429);
    dying.process.kill("SIGKILL");
    expect(await other()).toBe(429);
    await expect.poll(other).toBe("admitted");
    leaving.abort();
    await Promise.all(held);
  });
});

describe.each(BACKENDS)("counting in %s, sequentially", (name, useRedis) => {
  const onBackend = test.skipIf(useRedis && !HAS_REDIS);
  let replicas: Replicas;
  beforeAll(async () => {
    const dear =
      '  - { id: dear, task: chat, price: { completion: "0.1" }, deployments: [{ engine: scripted, slots: 200, replies: [{ text: Polly }] }] }\n';
    const limits = `{ project_model: { requests_per_minute: 150 }, key: { tokens_per_minute: 9000 } }
usage: { labels: { end_users: true, tag_metadata: [feature] } }`;
    replicas = await start(useRedis ? sharedRedis : undefined, limits, dear);
  });
  afterAll(() => replicas?.stop());

  onBackend("together they admit as many requests and tokens as the limits say, and no more", async () => {
    // In a separate project, because other requests would count.
    const { projects } = administrator(replicas.services[0]);
    const project = await projects.create({ name: "Load" });
    const { api_key } = await projects.serviceAccounts.create(project.id, { name: "load" });
    const services = replicas.services.map((service) => ({ ...service, apiKey: api_key?.value ?? "" }));
    // A request reserves 335 tokens and uses 61, so filling the limit takes 16 rounds of 300 ms; more on a busy machine.
    // What is admitted after a minute would not count.
    const share = ({ admitted, tokens }: Outcome) => Math.max(admitted / 150, tokens / 9000);
    const load = { services, clients: 30, seconds: 50, isReached: (outcome: Outcome) => share(outcome) > 0.95 };
    const words = Array.from({ length: 30 }, (_, index) => `word${index}`).join(" ");
    const asked = await sendLoad({ ...load, bodyOf: (number) => chat(words, 40 + (number % 20)) });
    const outcome = outcomeOf(asked);
    const { admitted, tokens, refused, other, broken } = outcome;
    console.log(`${name}: admitted ${admitted} of 150 requests, ${tokens} of 9000 tokens, refused ${refused}`);
    expect(admitted).toBeLessThanOrEqual(150);
    expect(tokens).toBeLessThanOrEqual(9000);
    expect(share(outcome)).toBeGreaterThan(0.95);
    expect({ other, broken }).toEqual({ other: 0, broken: 0 });
  });

  onBackend("a limit that one changes holds there at once, and at the other soon", async () => {
    const [one, two] = replicas.services;
    expect(await requestLimit(one)).toBe("150");
    expect(await requestLimit(two)).toBe("150");
    await changeRequestLimit(one, 77);
    expect(await requestLimit(one)).toBe("77");
    await expect.poll(() => requestLimit(two)).toBe("77");
  });

  onBackend("a hundred requests of ten cents at both spend no more than the dollar that is left", async () => {
    const { services } = replicas;
    const [one, two] = services;
    const ask = (service: ServiceProcess) => service.post("/v1/chat/completions", chat("Hm.", 1, "dear"));
    // Spent on both before the limit was set.
    expect((await ask(one)).status).toBe(200);
    expect((await ask(two)).status).toBe(200);
    const spent = async () => {
      const page = await administrator(one).usage.costs({ start_time: Math.floor(Date.now() / 1000), limit: 2 });
      const results = page.data.flatMap((bucket) => bucket.results as { amount?: { value?: number } }[]);
      return results.reduce((sum, { amount }) => sum + (amount?.value ?? 0), 0);
    };
    await expect.poll(spent).toBeCloseTo(0.2);
    await administrator(one).spendLimit.update({ currency: "USD", interval: "month", threshold_amount: 120 });
    await untilChangesReach(two, one, 78);
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) => ask(services[index % 2] as ServiceProcess)),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(10);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(90);
    await expect.poll(spent).toBeCloseTo(1.2);
    await administrator(one).spendLimit.delete();
  });

  onBackend(
    "budgets of an end user, a tag and a project hold over both, whatever each request belongs to",
    async () => {
      const [one, two] = replicas.services;
      const { projects } = administrator(one);
      const { id } = await projects.create({ name: "Budgets" });
      const { api_key: key } = await projects.serviceAccounts.create(id, { name: "budgets" });
      const create = (subject: object, interval: string, cents: number) =>
        one.post(
          `/v1/organization/projects/${id}/budgets`,
          { subject, interval, threshold_amount: cents, alert_percents: [] },
          { headers: { authorization: `Bearer ${one.adminKey}` } },
        );
      const created = await Promise.all([
        create({ type: "end_user" }, "day", 130),
        create({ type: "tag", id: "feature:search" }, "week", 90),
        create({ type: "project" }, "total", 310),
      ]);
      expect(created.map(({ status }) => status)).toEqual([200, 200, 200]);
      await untilChangesReach(two, one, 79);
      const headers = { authorization: `Bearer ${key?.value}` };
      const ask = async (index: number) => {
        const user = ["ada", "bob", "carl"][index % 3];
        const metadata = index % 2 === 0 ? { feature: "search" } : undefined;
        const body = { ...chat("Hm.", 1 + (index % 4), "dear"), user, metadata };
        const { status } = await (index % 5 < 2 ? one : two).post("/v1/chat/completions", body, { headers });
        return { status, user, isSearch: metadata !== undefined };
      };
      const answers: Awaited<ReturnType<typeof ask>>[] = [];
      for (let round = 0; round < 4; round += 1) {
        answers.push(...(await Promise.all(Array.from({ length: 60 }, (_, index) => ask(round * 60 + index)))));
      }
      expect(answers.every(({ status }) => status === 200 || status === 429)).toBe(true);
      const admitted = answers.filter(({ status }) => status === 200);
      const cents = (some: typeof answers) => some.length * 10;
      expect(cents(admitted)).toBeLessThanOrEqual(310);
      expect(cents(admitted.filter(({ isSearch }) => isSearch))).toBeLessThanOrEqual(90);
      for (const name of ["ada", "bob", "carl"]) {
        expect(cents(admitted.filter(({ user }) => user === name))).toBeLessThanOrEqual(130);
      }
      // Requests of one token, which belong to no end user, fill what the reservations of longer ones left.
      let spent = cents(admitted);
      const fill = (service: ServiceProcess) =>
        service.post("/v1/chat/completions", chat("Hm.", 1, "dear"), { headers });
      // An answer does not wait for its settlement.
      await eventually(async () => {
        while (spent < 310 && (await fill(spent % 20 === 0 ? one : two)).status === 200) spent += 10;
        expect(spent).toBe(310);
      });
      expect([(await fill(one)).status, (await fill(two)).status]).toEqual([429, 429]);
    },
  );
});
