/** Usage after a real process is killed or stopped, or while its database is unavailable. */

import { setTimeout as pause } from "node:timers/promises";
import OpenAI from "openai";
import { expect, test } from "vitest";
import { sharedPostgres, startPostgres } from "../support/databases/postgres.ts";
import { eventually } from "../support/service/eventually.ts";
import { type ServiceProcess, startServiceProcess } from "../support/service/service-process.ts";
import { CHECKS_DURATIONS } from "../support/timing.ts";

const CONFIG = `
builtin_models: false
models:
  - id: parrot
    task: chat
    deployments: [{ engine: scripted, slots: 50, replies: [{ text: Polly }] }]
`;
const LOST_MS = 250;
const CLIENTS = 8;
/** Leaves the machine to the other test files. */
const BETWEEN_REQUESTS_MS = 60;

/** Sends requests until stopped or the process ends; returns the time of each answer. */
function askOn(service: ServiceProcess): { answeredAt: number[]; end: () => Promise<void> } {
  const answeredAt: number[] = [];
  let isOver = false;
  const client = async () => {
    while (!isOver) {
      const body = { model: "parrot", messages: [{ role: "user", content: "Hm." }] };
      try {
        const answer = await service.post("/v1/chat/completions", body);
        if (answer.status !== 200) throw new Error(`${answer.status}`);
        await answer.text();
        answeredAt.push(performance.now());
        await pause(BETWEEN_REQUESTS_MS);
      } catch {
        if (service.process.exitCode !== null || service.process.signalCode !== null) return;
        await pause(20);
      }
    }
  };
  const clients = Promise.all(Array.from({ length: CLIENTS }, client));
  const end = async () => {
    isOver = true;
    await clients;
  };
  return { answeredAt, end };
}

async function counted({ baseUrl, adminKey }: ServiceProcess): Promise<number> {
  const { usage } = new OpenAI({ baseURL: baseUrl, apiKey: null, adminAPIKey: adminKey, maxRetries: 0 }).admin
    .organization;
  const page = await usage.completions({ start_time: Math.floor(Date.now() / 1000) - 86_400, limit: 3 });
  const results = page.data.flatMap((bucket) => bucket.results as { num_model_requests?: number }[]);
  return results.reduce((sum, result) => sum + (result.num_model_requests ?? 0), 0);
}

const exited = (service: ServiceProcess) => new Promise((resolve) => service.process.once("exit", resolve));

const KINDS = ["SQLite", "PostgreSQL"];

async function start(kind: string, closing: AsyncDisposableStack) {
  const url = kind === "PostgreSQL" ? await (await sharedPostgres()).createDatabase() : undefined;
  const environment: Record<string, string> = url === undefined ? {} : { DATABASE_URL: url.reveal() };
  const service = await startServiceProcess({ config: CONFIG, environment });
  closing.defer(async () => void (await service.stop()));
  const restart = async () => {
    const folder = { PARLANCE_DATA_DIR: service.dataDirectory };
    const next = await startServiceProcess({ config: CONFIG, environment: { ...environment, ...folder } });
    closing.defer(async () => void (await next.stop()));
    return next;
  };
  return { service, restart };
}

/** Time for which a machine that does other work did not run the service, or these clients. */
function longestPauseMs(answeredAt: readonly number[]): number {
  return Math.max(...answeredAt.slice(1).map((at, index) => at - (answeredAt[index] ?? 0)));
}

// Sequential.
test.each(KINDS)("loses at most the last 250 milliseconds of answered requests after SIGKILL on %s", async (kind) => {
  await using closing = new AsyncDisposableStack();
  const { service, restart } = await start(kind, closing);
  const { answeredAt, end } = askOn(service);
  await expect.poll(() => counted(service)).toBeGreaterThan(20);
  const written = await counted(service);
  const killedAt = performance.now();
  const gone = exited(service);
  service.process.kill("SIGKILL");
  await gone;
  await end();
  const next = await restart();
  const lastSafeAt = killedAt - LOST_MS - longestPauseMs(answeredAt);
  const safe = CHECKS_DURATIONS ? answeredAt.filter((at) => at < lastSafeAt).length : written;
  await expect.poll(() => counted(next)).toBeGreaterThanOrEqual(safe);
  const all = await counted(next);
  console.log(`${kind}: of ${answeredAt.length} answered requests ${answeredAt.length - all} lost by SIGKILL`);
  expect(all).toBeLessThanOrEqual(answeredAt.length + CLIENTS);
});

test.concurrent.each(KINDS)("loses no usage after SIGTERM on %s", async (kind) => {
  await using closing = new AsyncDisposableStack();
  const { service, restart } = await start(kind, closing);
  const { answeredAt, end } = askOn(service);
  await eventually(() => expect(answeredAt.length).toBeGreaterThan(10));
  const gone = exited(service);
  service.process.kill("SIGTERM");
  await gone;
  await end();
  expect(await counted(await restart())).toBe(answeredAt.length);
});

test.concurrent("loses no usage and no request with a cached key while the database is unavailable for seconds", async () => {
  await using closing = new AsyncDisposableStack();
  const postgres = closing.use(await startPostgres());
  const url = (await postgres.createDatabase()).reveal();
  const service = await startServiceProcess({ config: CONFIG, environment: { DATABASE_URL: url } });
  closing.defer(async () => void (await service.stop()));
  const { answeredAt, end } = askOn(service);
  await eventually(() => expect(answeredAt.length).toBeGreaterThan(10));
  await postgres.stop();
  const outage = () => service.log().some(({ msg }) => String(msg).startsWith("The database cannot be reached"));
  await eventually(() => expect(outage()).toBe(true));
  const answeredBefore = answeredAt.length;
  await eventually(() => expect(answeredAt.length).toBeGreaterThan(answeredBefore + 10));
  await postgres.start();
  const recovery = () => service.log().some(({ msg }) => msg === "the database can be reached again");
  await eventually(() => expect(recovery()).toBe(true));
  await end();
  await eventually(async () => expect(await counted(service)).toBe(answeredAt.length));
});
