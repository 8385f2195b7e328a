/**
 * Cost of limits and usage records per request, with and without them: `node bench/quota.ts [requests]`.
 * Separate processes serve the same request by turns; reservations alone are measured in this process.
 */

import { join } from "node:path";
import { Agent, request } from "undici";
import { openCounters } from "../src/counters/open-counters.ts";
import { CompletionEstimates } from "../src/features/quota/completion-estimates.ts";
import { RateLimits } from "../src/features/quota/rate-limits.ts";
import { type UsageRecord, UsageRecorder } from "../src/features/usage/usage-recorder.ts";
import type { QuotaClaim } from "../src/inference/quota.ts";
import { createLogger } from "../src/kernel/logger.ts";
import { parseRedisUrl } from "../src/kernel/redis-address.ts";
import type { Secret } from "../src/kernel/secret.ts";
import { NO_USAGE } from "../src/kernel/usage.ts";
import { openDatabase } from "../src/storage/database.ts";
import { startPostgres } from "../test/support/databases/postgres.ts";
import { HAS_REDIS, startRedis } from "../test/support/databases/redis.ts";
import { type ServiceProcess, startServiceProcess } from "../test/support/service/service-process.ts";
import { temporaryDirectory } from "../test/support/service/temporary-directory.ts";
import { median, millisecondsOf } from "./timing.ts";

const requests = Number(process.argv[2] ?? 2_000);
const WARM_UP = 200;
const logger = createLogger("silent");

interface Backend {
  name: string;
  redisUrl: Secret | undefined;
  databaseUrl: Secret | undefined;
}

async function measureReserving({ name, redisUrl, databaseUrl }: Backend): Promise<void> {
  const redis = redisUrl && parseRedisUrl(redisUrl.reveal());
  const counters = await openCounters(
    { environment: { REDIS_URL: redis, DATABASE_URL: databaseUrl }, limits: { onCountersUnavailable: "refuse" } },
    logger,
  );
  const limits = { requestsPerMinute: 1e8, tokensPerMinute: 1e8 };
  const scopes = ["project", "organization", "key"].map((scope) => ({ name: scope, key: scope, limits }));
  const shared = { logger, estimates: new CompletionEstimates(), onRefused: () => {} };
  const quota = new RateLimits({ ...shared, counters, requestTimeoutSeconds: 600, scopesOf: () => scopes });
  const claim: QuotaClaim = {
    caller: { keyId: "key", organizationId: "organization", projectId: "project", kind: "project" },
    model: "model",
    catalogId: "model",
    operation: "chat",
    charges: () => [],
    startedAt: Date.now(),
    upperBound: () => ({ promptTokens: 100, completionTokens: 100, audioBytes: 0, characters: 0 }),
  };
  const times = [];
  for (let index = 0; index < requests; index += 1) {
    const began = performance.now();
    const reservation = await quota.reserve(claim);
    times.push(performance.now() - began);
    reservation.settle({ ...NO_USAGE, promptTokens: 50, completionTokens: 20 }, null);
  }
  console.log(`reserving six limits ${name}: ${microseconds(median(times))} (median of ${requests})`);
  await counters.close();
}

/** Cost of one request's usage record in this process: journaled to disk and written to the database in batches. */
async function measureRecording({ name, databaseUrl }: Backend): Promise<void> {
  await using folder = await temporaryDirectory();
  const database = openDatabase({ file: join(folder.path, "usage.sqlite"), url: databaseUrl, logger });
  const recorder = new UsageRecorder({ database, directory: folder.path, logger });
  const perBatch = 100;
  const times: number[] = [];
  for (let batch = 0; batch < requests / perBatch; batch += 1) {
    times.push(
      await millisecondsOf(async () => {
        for (let index = 0; index < perBatch; index += 1) recorder.record(usageOf(index));
        await recorder.flush();
      }),
    );
  }
  console.log(
    `recording usage ${name}: ${microseconds(median(times) / perBatch)} a request, in batches of ${perBatch}`,
  );
  await recorder.close();
  await database.close();
}

function usageOf(index: number): UsageRecord {
  return {
    ...{ at: Date.now(), organizationId: "organization", projectId: `project-${index % 5}`, keyId: "key" },
    ...{ model: "model", deployment: "model", operation: "chat" },
    ...{ promptTokens: 10, cachedTokens: 2, completionTokens: 5, reasoningTokens: 1 },
    ...{ characters: 0, audioMilliseconds: 0, costNanoDollars: 1500 },
  };
}

function configOf(limits: string): string {
  return `
builtin_models: false
limits: ${limits}
models:
  - id: parrot
    task: chat
    price: { prompt: "0.000001", completion: "0.000001" }
    deployments: [{ engine: scripted, replies: [{ text: Polly }] }]
`;
}

const SIX = "requests_per_minute: 100000000, tokens_per_minute: 100000000";
const LIMITS = `{ project_model: { ${SIX} }, organization: { ${SIX} }, key: { ${SIX} } }`;

async function measureRequests(backends: readonly Backend[]): Promise<void> {
  const agent = new Agent({ connections: 1, pipelining: 1 });
  const started: { name: string; service: ServiceProcess; times: number[] }[] = [];
  const start = async (name: string, limits: string, { redisUrl, databaseUrl }: Omit<Backend, "name">) => {
    const environment = {
      ...(redisUrl && { REDIS_URL: redisUrl.reveal() }),
      ...(databaseUrl && { DATABASE_URL: databaseUrl.reveal() }),
    };
    started.push({ name, service: await startServiceProcess({ config: configOf(limits), environment }), times: [] });
  };
  const memory = { redisUrl: undefined, databaseUrl: undefined };
  await start("without limits", "{}", memory);
  // The baseline again: its difference shows the noise of the measurement.
  await start("without limits, again", "{}", memory);
  for (const { name, ...urls } of backends) await start(`six limits ${name}`, LIMITS, urls);
  for (let index = 0; index < WARM_UP + requests; index += 1) {
    for (const { service, times } of started) {
      const took = await millisecondsOf(() => ask(service, agent));
      if (index >= WARM_UP) times.push(took);
    }
  }
  const without = median(started[0]?.times ?? []);
  for (const { name, times } of started) {
    const added = microseconds(median(times) - without);
    console.log(
      `a request ${name}: ${microseconds(median(times))}, ${added} more than without (median of ${requests})`,
    );
  }
  await agent.close();
  await Promise.all(started.map(({ service }) => service.stop()));
}

async function ask({ origin, apiKey }: ServiceProcess, dispatcher: Agent): Promise<void> {
  const { statusCode, body } = await request(`${origin}/v1/chat/completions`, {
    dispatcher,
    method: "POST",
    headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "parrot", messages: [{ role: "user", content: "Hm." }], max_completion_tokens: 5 }),
  });
  if (statusCode !== 200) throw new Error(`${statusCode}: ${await body.text()}`);
  await body.dump();
}

function microseconds(milliseconds: number): string {
  return `${Math.round(milliseconds * 1000)} µs`;
}

await using postgres = await startPostgres();
await using redis = HAS_REDIS ? await startRedis() : undefined;
const none = { redisUrl: undefined, databaseUrl: undefined };
const backends: (() => Promise<Backend>)[] = [
  async () => ({ name: "in memory", ...none }),
  ...(redis ? [async () => ({ ...none, name: "in Redis", redisUrl: redis.createDatabase() })] : []),
  async () => ({ ...none, name: "in PostgreSQL", databaseUrl: await postgres.createDatabase() }),
];
if (redis === undefined) console.log("Skipped Redis: redis-server is not installed");
for (const backend of backends) await measureReserving(await backend());
await measureRecording({ ...none, name: "in SQLite" });
await measureRecording({ ...none, name: "in PostgreSQL", databaseUrl: await postgres.createDatabase() });
await measureRequests(await Promise.all(backends.map((backend) => backend())));
