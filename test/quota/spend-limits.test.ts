/** Spend limits: enforcement and administration. */

import OpenAI from "openai";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { slotsInUse } from "../support/service/limit-load.ts";
import { type Service, startService } from "../support/service/service.ts";

/** Each output token costs ten cents; prompts are free. */
const config = ({ baseUrl, apiKey }: Service) => `
builtin_models: false
models:
  - id: parrot
    task: chat
    price: { completion: "0.1" }
    deployments: [{ engine: scripted, slots: 200, replies: [{ text: Polly }] }]
  - id: kept
    task: chat
    cache: {}
    price: { request: "0.1" }
    deployments: [{ engine: scripted, replies: [{ text: Polly }] }]
  - id: talker
    task: speech
    price: { second: "1" }
    deployments: [{ engine: scripted, speech: { voices: [low] } }]
  - id: stray
    task: chat
    deployments: [{ engine: scripted, slots: 200, replies: [{ text: Woof }] }]
  - id: sloth
    task: chat
    price: { completion: "0.1" }
    deployments: [{ engine: scripted, slots: 200, replies: [{ text: Hm., delay_ms_before_first: 600000 }] }]
  - id: windowed
    task: chat
    price: { completion: "0.1" }
    deployments: [{ engine: openai-compatible, base_url: "${baseUrl}", api_key: "${apiKey}", model: inner, context_window: 8 }]
  - id: unknown-window
    task: chat
    price: { completion: "0.000001" }
    deployments: [{ engine: openai-compatible, base_url: "${baseUrl}", api_key: "${apiKey}", model: inner }]
`;

const UPSTREAM_CONFIG = `
builtin_models: false
models:
  - { id: inner, task: chat, deployments: [{ engine: scripted, replies: [{ text: Polly }] }] }
`;

let upstream: Service;
let service: Service;
let project: string;
beforeAll(async () => {
  upstream = await startService({ config: UPSTREAM_CONFIG });
  service = await startService({ config: config(upstream) });
  project = (await administrator().projects.list()).data[0]?.id ?? "";
});
afterAll(() => Promise.all([service?.stop(), upstream?.stop()]));
afterEach(async () => {
  await administrator().projects.spendLimit.delete(project);
  await administrator().spendLimit.delete();
});

function administrator() {
  const options = { baseURL: service.baseUrl, apiKey: null, adminAPIKey: service.adminKey, maxRetries: 0 };
  return new OpenAI(options).admin.organization;
}

const limitOf = (cents: number) => ({ currency: "USD", interval: "month", threshold_amount: cents }) as const;

const say = (model = "parrot", max_completion_tokens = 1) =>
  service.post("/v1/chat/completions", { model, messages: [{ role: "user", content: "Hm." }], max_completion_tokens });

async function spent(): Promise<number> {
  const page = await administrator().usage.costs({ start_time: Math.floor(Date.now() / 1000), limit: 2 });
  const amounts = page.data
    .flatMap(({ results }) => results)
    .map((result) => ("amount" in result ? result.amount : {}));
  return amounts.reduce((sum, amount) => sum + (amount?.value ?? 0), 0);
}

test("admits a hundred concurrent ten-cent requests only up to the remaining dollar", async () => {
  await administrator().projects.spendLimit.update(project, limitOf(100));
  const answers = await Promise.all(Array.from({ length: 100 }, () => say()));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(10);
  const refused = answers.find(({ status }) => status === 429);
  expect(refused?.headers.get("x-should-retry")).toBe("false");
  expect(await refused?.json()).toMatchObject({ error: { type: "insufficient_quota", code: "insufficient_quota" } });
  await expect.poll(spent).toBeCloseTo(1);
  // Spend limits do not apply to a model without a price.
  expect((await say("stray")).status).toBe(200);
});

test("counts spending before the limit was set and releases unused reservations", async () => {
  const before = await spent();
  const cents = Math.round(before * 100) + 35;
  await administrator().spendLimit.update(limitOf(cents));
  // Each may cost thirty cents and costs ten.
  expect((await say("parrot", 3)).status).toBe(200);
  expect((await say("parrot", 3)).status).toBe(429);
  expect((await say("parrot", 2)).status).toBe(200);
  expect((await say("parrot", 2)).status).toBe(429);
});

test("reserves at most the upstream's context window, whatever max_completion_tokens is", async () => {
  const before = await spent();
  const listing = await (await service.fetch("/v1/models/windowed?include_metadata=true")).json();
  expect(listing).toMatchObject({ metadata: { context_window: 8 } });
  // Eighty cents for eight tokens, and room for requests whose usage is not recorded yet.
  await administrator().projects.spendLimit.update(project, limitOf(Math.round(before * 100) + 150));
  expect((await say("windowed", 1_000_000)).status).toBe(200);
});

test("reserves at most 131,072 tokens when the upstream's context window is unknown", async () => {
  const before = await spent();
  // The requested maximum would cost $10.
  await administrator().projects.spendLimit.update(project, limitOf(Math.round(before * 100) + 80));
  expect((await say("unknown-window", 10_000_000)).status).toBe(200);
});

test("counts running requests against a changed limit", async () => {
  const { projects } = administrator();
  const { id } = await projects.create({ name: "Changed" });
  const { api_key: key } = await projects.serviceAccounts.create(id, { name: "Changing" });
  const headers = { authorization: `Bearer ${key?.value}` };
  const ask = (model: string, max_completion_tokens: number, signal?: AbortSignal) => {
    const body = { model, messages: [{ role: "user", content: "Hm." }], max_completion_tokens };
    return service.post("/v1/chat/completions", body, { headers, ...(signal && { signal }) });
  };
  await projects.spendLimit.update(id, limitOf(20));
  const leaving = new AbortController();
  const slow = ask("sloth", 2, leaving.signal).catch(() => undefined);
  await expect.poll(() => slotsInUse(service, "sloth")).toBe(1);
  expect((await ask("parrot", 1)).status).toBe(429);
  await projects.spendLimit.update(id, limitOf(25));
  expect((await ask("parrot", 1)).status).toBe(429);
  leaving.abort();
  await slow;
  await expect.poll(async () => (await ask("parrot", 1)).status).toBe(200);
});

test("counts speech by the second, and an answer from the cache not at all", async () => {
  const { projects } = administrator();
  const { id } = await projects.create({ name: "Speaking" });
  const { api_key: key } = await projects.serviceAccounts.create(id, { name: "Speaker" });
  const headers = { authorization: `Bearer ${key?.value}` };
  const messages = [{ role: "user", content: "Kept." }];
  const chat = () => service.post("/v1/chat/completions", { model: "kept", messages, temperature: 0 }, { headers });
  const speak = async (input: string) => {
    const body = { model: "talker", voice: "alloy", response_format: "pcm", input };
    const answer = await service.post("/v1/audio/speech", body, { headers });
    await answer.arrayBuffer();
    return answer.status;
  };
  // Ten cents and a dollar.
  await projects.spendLimit.update(id, limitOf(110));
  expect((await chat()).status).toBe(200);
  // A second for four characters.
  expect(await speak("Hello there.")).toBe(429);
  // Each reserves half a second and takes a tenth.
  for (let request = 0; request < 6; request += 1) expect(await speak("Hm")).toBe(200);
  expect(await speak("Hm")).toBe(429);
  const again = await chat();
  expect([again.status, again.headers.get("x-parlance-cache")]).toEqual([200, "hit"]);
});

test("admits requests over an inactive limit and logs a warning", async () => {
  const status = { enforcement: { status: "inactive" } };
  const path = `/v1/organization/projects/${project}/spend_limit`;
  const headers = { authorization: `Bearer ${service.adminKey}` };
  const set = await service.post(path, { ...limitOf(1), ...status }, { headers });
  expect(await set.json()).toEqual({ object: "project.spend_limit", ...limitOf(1), ...status });
  expect((await say()).status).toBe(200);
  await expect.poll(() => service.output()).toContain("a spend limit with inactive enforcement is exceeded");
});

test("reads, replaces and deletes a limit", async () => {
  const { spendLimit } = administrator().projects;
  await expect(spendLimit.retrieve(project)).rejects.toMatchObject({ status: 404 });
  const url = `${service.baseUrl}/organization/projects/${project}/spend_limit`;
  const headers = { authorization: `Bearer ${service.adminKey}`, prefer: "absent=no-content" };
  const absent = await fetch(url, { headers });
  expect([absent.status, absent.headers.get("preference-applied")]).toEqual([204, "absent=no-content"]);
  await spendLimit.update(project, limitOf(5));
  const limit = await spendLimit.update(project, limitOf(700));
  expect(limit).toMatchObject({ object: "project.spend_limit", enforcement: { status: "enforcing" } });
  expect(await spendLimit.retrieve(project)).toEqual(limit);
  expect(await spendLimit.delete(project)).toEqual({ object: "project.spend_limit.deleted", deleted: true });
  expect(await spendLimit.delete(project)).toMatchObject({ deleted: false });
});

test.each([
  ["another currency", { currency: "EUR" }, "currency"],
  ["another interval", { interval: "day" }, "interval"],
  ["nothing", { threshold_amount: 0 }, "threshold_amount"],
  ["less than nothing", { threshold_amount: -5 }, "threshold_amount"],
  ["a broken cent", { threshold_amount: 0.5 }, "threshold_amount"],
  ["more than there is", { threshold_amount: 1e18 }, "threshold_amount"],
  ["an unknown status", { enforcement: { status: "perhaps" } }, "enforcement.status"],
])("returns 400 for %s", async (_what, change, param) => {
  const headers = { authorization: `Bearer ${service.adminKey}` };
  const answer = await service.post("/v1/organization/spend_limit", { ...limitOf(5), ...change }, { headers });
  expect(answer.status).toBe(400);
  expect(await answer.json()).toMatchObject({ error: { param } });
});
