/** Two and four real processes on one PostgreSQL and one Redis, with 200 clients that exceed the limits. */

import { setTimeout as pause } from "node:timers/promises";
import { afterAll, describe, expect, test } from "vitest";
import { startPostgres } from "../support/databases/postgres.ts";
import { HAS_REDIS, startRedis, WITHOUT_REDIS } from "../support/databases/redis.ts";
import {
  LOAD_MODEL,
  maxInAnyMinute,
  outcomeOf,
  type SentRequest,
  sendLoad,
  startReplicas,
  untilCountersShared,
} from "../support/service/limit-load.ts";
import type { ServiceProcess } from "../support/service/service-process.ts";

const REQUESTS = 1_000;
const TOKENS = 100_000;
const CLIENTS = 200;

const postgres = await startPostgres();
const redis = HAS_REDIS ? await startRedis() : undefined;
afterAll(async () => {
  await postgres[Symbol.asyncDispose]();
  await redis?.[Symbol.asyncDispose]();
});

const WORDS = Array.from({ length: 40 }, (_, index) => `word${index}`).join(" ");
const LIMITS = {
  requests: { limit: REQUESTS, setting: `requests_per_minute: ${REQUESTS}`, amountOf: () => 1 },
  tokens: { limit: TOKENS, setting: `tokens_per_minute: ${TOKENS}`, amountOf: ({ tokens }: SentRequest) => tokens },
};
type Kind = keyof typeof LIMITS;

/** Requests of different sizes, whose reservations differ from their usage. */
function bodyOf(number: number): object {
  const content = WORDS.slice(0, 60 + (number % 200));
  return { model: "parrot", messages: [{ role: "user", content }], max_completion_tokens: 20 + (number % 150) };
}

interface Load {
  kind: Kind;
  replicas: number;
  seconds?: number;
  useRedis?: boolean;
  during?: (services: readonly ServiceProcess[]) => Promise<void>;
  afterwards?: (services: readonly ServiceProcess[]) => Promise<void>;
}

async function load({ kind, replicas, seconds = 30, useRedis = true, during, afterwards }: Load) {
  const environment: Record<string, string> = { DATABASE_URL: (await postgres.createDatabase()).reveal() };
  if (useRedis && redis !== undefined) environment.REDIS_URL = redis.createDatabase().reveal();
  const { limit, setting, amountOf } = LIMITS[kind];
  const { services, stop } = await startReplicas(
    replicas,
    `${LOAD_MODEL}limits: { organization: { ${setting} } }\n`,
    environment,
  );
  try {
    const work = sendLoad({ services, clients: CLIENTS, seconds, bodyOf });
    await Promise.all([work, during?.(services)]);
    const asked = await work;
    await afterwards?.(services);
    const { admitted, refused, broken, other } = outcomeOf(asked);
    const most = maxInAnyMinute(asked, amountOf);
    const title = `${replicas} replicas, ${useRedis ? "Redis" : "PostgreSQL"}, ${seconds} s`;
    console.log(
      `${title}: limit ${limit} ${kind}, at most ${most} in a minute (${((100 * most) / limit).toFixed(1)} %), admitted ${admitted}, refused ${refused}, broken ${broken}`,
    );
    expect(other).toBe(0);
    expect(most).toBeLessThanOrEqual(limit);
    return { asked, broken, share: most / limit };
  } finally {
    await stop();
  }
}

const onRedis = test.skipIf(!HAS_REDIS);
const KINDS: Kind[] = ["requests", "tokens"];

describe.each(KINDS)(`a limit of %s${WITHOUT_REDIS}`, (kind) => {
  onRedis.each([2, 4])("is used completely by %i replicas and never exceeded", async (replicas) => {
    const { share, broken } = await load({ kind, replicas });
    expect(share).toBeGreaterThan(0.95);
    expect(broken).toBe(0);
  });

  test("is used up by four replicas that count in PostgreSQL, and never exceeded", async () => {
    const { share } = await load({ kind, replicas: 4, useRedis: false });
    expect(share).toBeGreaterThan(0.95);
  });

  onRedis("is never passed in any minute of two", async () => {
    const { share, asked } = await load({ kind, replicas: 2, seconds: 145 });
    expect(share).toBeGreaterThan(0.95);
    const { admitted, tokens } = outcomeOf(asked);
    const all = kind === "requests" ? admitted : tokens;
    expect(all).toBeGreaterThan(2.9 * LIMITS[kind].limit);
  });

  onRedis.each([2, 4])("is used by the others of %i when one is killed", async (replicas) => {
    const kill = async ([dying]: readonly ServiceProcess[]) => {
      // In the middle of the requests that use the limit up.
      await pause(700);
      dying?.process.kill("SIGKILL");
    };
    const { limit } = LIMITS[kind];
    let left = limit;
    const afterwards = async (services: readonly ServiceProcess[]) => {
      const answer = await services.at(-1)?.post("/v1/chat/completions", bodyOf(1));
      left = Number(answer?.headers.get(`x-ratelimit-remaining-${kind}`));
    };
    const { share, broken } = await load({ kind, replicas, during: kill, afterwards });
    expect(broken).toBeGreaterThan(0);
    expect(left).toBeLessThan(0.05 * limit);
    // Requests that the killed replica had started count without an answer; their tokens were released.
    expect(share).toBeGreaterThan(kind === "tokens" ? 0.95 : 0.8);
  });

  onRedis.each([2, 4])("is kept by %i replicas while Redis is stopped and after it was started", async (replicas) => {
    const restart = async () => {
      await pause(700);
      await redis?.stop();
      await pause(8_000);
      await redis?.start();
    };
    const afterwards = (services: readonly ServiceProcess[]) => untilCountersShared(services, replicas);
    const { share, broken } = await load({ kind, replicas, during: restart, afterwards });
    expect(share).toBeGreaterThan(0.95);
    expect(broken).toBe(0);
  });
});
