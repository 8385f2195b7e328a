/** A service with several workers: one truth, whichever worker answers. */

import { execFileSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import OpenAI from "openai";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { ScriptedChat } from "../../src/engines/scripted/scripted-chat.ts";
import { scriptedSettings } from "../../src/engines/scripted/settings.ts";
import { eventually } from "../support/service/eventually.ts";
import { type ServiceProcess, startServiceProcess } from "../support/service/service-process.ts";
import { type OpenAiUpstream, startOpenAiUpstream } from "../support/upstreams/openai-upstream.ts";

const LIMIT = 50;
const CONCURRENT = 12;
const WORDS = 60;
const CONNECTIONS = 40;

let upstream: OpenAiUpstream;
let slow: OpenAiUpstream;
let service: ServiceProcess;
beforeAll(async () => {
  upstream = await startOpenAiUpstream(scripted({ text: "Polly" }));
  slow = await startOpenAiUpstream(scripted({ text: "word ".repeat(WORDS), delay_ms_per_token: 50 }));
  service = await startServiceProcess({ config: config() });
});
afterAll(async () => {
  await service?.stop();
  await Promise.all([upstream?.close(), slow?.close()]);
});

function scripted(reply: object): ScriptedChat {
  return new ScriptedChat(scriptedSettings.parse({ replies: [reply] }));
}

function config(): string {
  const to = ({ baseUrl }: OpenAiUpstream) =>
    `deployments: [{ engine: openai-compatible, base_url: "${baseUrl}", model: inner }]`;
  return `
builtin_models: false
server: { workers: 3, max_connections_per_address: ${CONNECTIONS} }
limits: { project_model: { requests_per_minute: ${LIMIT}, concurrent_requests: ${CONCURRENT} } }
models:
  - { id: counted, task: chat, ${to(upstream)} }
  - { id: priced, task: chat, price: { completion: "0.1" }, ${to(upstream)} }
  - { id: keyed, task: chat, ${to(upstream)} }
  - { id: recorded, task: chat, ${to(upstream)} }
  - { id: slow, task: chat, ${to(slow)} }
  - { id: mirrored, task: chat, mirror: { model: local }, ${to(upstream)} }
  - { id: local, task: chat, deployments: [{ engine: scripted, slots: 1, replies: [{ match: long, text: "${"word ".repeat(500)}", delay_ms_per_token: 20 }, { text: Squawk }] }] }
  - { id: hears, task: transcription, deployments: [{ engine: scripted, replies: [{ text: Hello. }] }] }
  - { id: speaks, task: speech, deployments: [{ engine: scripted, speech: {} }] }
`;
}

const admin = () =>
  new OpenAI({ baseURL: service.baseUrl, apiKey: null, adminAPIKey: service.adminKey, maxRetries: 0 }).admin
    .organization;

/** Each request on a connection of its own, which the workers take in turn. */
function say(model: string, { key = service.apiKey, ...more }: { key?: string; [name: string]: unknown } = {}) {
  const messages = [{ role: "user", content: "Hm." }];
  const headers = { authorization: `Bearer ${key}`, connection: "close" };
  return service.post("/v1/chat/completions", { model, messages, ...more }, { headers });
}

async function statuses(count: number, ask: () => Promise<Response>): Promise<Map<number, number>> {
  const answers = await Promise.all(Array.from({ length: count }, ask));
  for (const answer of answers) await answer.body?.cancel();
  return new Map([...Map.groupBy(answers, ({ status }) => status)].map(([status, all]) => [status, all.length]));
}

async function metric(name: string): Promise<number> {
  const text = await (await service.fetch("/metrics")).text();
  const lines = text.split("\n").filter((line) => line.startsWith(name));
  return lines.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
}

/** Requests of the last minute in the usage report. */
async function recordedRequests(model: string): Promise<number> {
  const { data } = await admin().usage.completions({ start_time: Math.floor(Date.now() / 1000) - 60, models: [model] });
  const results = data.flatMap((bucket) => bucket.results);
  return results.reduce((sum, each) => sum + ("num_model_requests" in each ? each.num_model_requests : 0), 0);
}

/** Numbers and process IDs of the workers that run now. */
function workers(): Map<number, number> {
  const listening = service.log().filter(({ msg }) => msg === "a worker listens");
  return new Map(listening.map(({ worker, pid }) => [worker as number, pid as number]));
}

function workersThatAnswered(model: string): Set<unknown> {
  return new Set(
    service.log().flatMap((line) => (line.msg === "request" && line.model === model ? [line.worker] : [])),
  );
}

function answersOfOthers(model: string, victim: unknown): number {
  const isOne = (line: Record<string, unknown>) =>
    line.msg === "request" && line.model === model && line.status === 200;
  return service.log().filter((line) => isOne(line) && line.worker !== victim).length;
}

test("grants exactly the limit over all workers", async () => {
  let granted = 0;
  // No more at once than may run.
  for (let wave = 0; wave < 8; wave += 1) granted += (await statuses(10, () => say("counted"))).get(200) ?? 0;
  expect(granted).toBe(LIMIT);
  await eventually(() => expect(workersThatAnswered("counted").size).toBe(3));
});

test("grants exactly the limit to many requests at once over two workers", async () => {
  const model = `{ engine: openai-compatible, base_url: "${upstream.baseUrl}", model: inner }`;
  const pair = await startServiceProcess({
    config: `
builtin_models: false
server: { workers: 2 }
limits: { project_model: { requests_per_minute: ${LIMIT} } }
models: [{ id: crowded, task: chat, deployments: [${model}] }]
`,
  });
  onTestFinished(async () => void (await pair.stop()));
  const body = { model: "crowded", messages: [{ role: "user", content: "Hm." }] };
  expect(await statuses(120, () => pair.post("/v1/chat/completions", body))).toEqual(
    new Map([
      [200, LIMIT],
      [429, 120 - LIMIT],
    ]),
  );
});

test.runIf(process.platform === "linux")("starts a worker again once there are file descriptors for it", async () => {
  const pair = await startServiceProcess({ config: "builtin_models: false\nserver: { workers: 2 }\n" });
  onTestFinished(async () => void (await pair.stop()));
  const logged = (message: string) => pair.log().filter(({ msg }) => msg === message);
  const listening = () => logged("a worker listens");
  await eventually(() => expect(listening()).toHaveLength(2));
  const limit = (count: number) => execFileSync("prlimit", ["--pid", String(pair.process.pid), `--nofile=${count}:`]);
  limit(10);
  process.kill(Number(listening()[0]?.pid), "SIGKILL");
  await eventually(() => expect(logged("the process of a worker could not be started")).not.toHaveLength(0));
  limit(4096);
  await eventually(() => expect(listening()).toHaveLength(3));
});

test("spends exactly the limit over all workers, and sums their metrics", async () => {
  const project = (await admin().projects.list()).data[0]?.id ?? "";
  const limit = { currency: "USD", interval: "month", threshold_amount: 100 } as const;
  await admin().projects.spendLimit.update(project, limit);
  // Ten cents each.
  const found = await statuses(12, () => say("priced", { max_completion_tokens: 1 }));
  const more = await statuses(6, () => say("priced", { max_completion_tokens: 1 }));
  await admin().projects.spendLimit.delete(project);
  expect((found.get(200) ?? 0) + (more.get(200) ?? 0)).toBe(10);
  await eventually(async () => {
    const requests = 'parlance_requests_total{operation="chat/completions",model="priced"';
    expect(await metric(`${requests},status="200"}`)).toBe(10);
    expect(await metric(`${requests},status="429"}`)).toBe(8);
  });
  expect(await metric('parlance_deployment_up{model="priced"')).toBe(1);
  await eventually(async () => expect(await recordedRequests("priced")).toBe(10));
});

test("refuses a revoked key in all workers at once", async () => {
  const project = (await admin().projects.list()).data[0]?.id ?? "";
  const { id, api_key: key } = await admin().projects.serviceAccounts.create(project, { name: "Builder" });
  expect(await statuses(9, () => say("keyed", { key: key?.value ?? "" }))).toEqual(new Map([[200, 9]]));
  await admin().projects.serviceAccounts.delete(id, { project_id: project });
  expect(await statuses(9, () => say("keyed", { key: key?.value ?? "" }))).toEqual(new Map([[401, 9]]));
  const headers = { authorization: `Bearer ${service.adminKey}` };
  // The client's address, although the request came from a worker.
  expect(await (await service.fetch("/v1/organization/audit_logs", { headers })).text()).toContain("127.0.0.1");
});

test("passes requests for local models and uploads on to the owner, and disconnects", async () => {
  expect(await (await say("local")).json()).toMatchObject({ choices: [{ message: { content: "Squawk" } }] });
  const leaving = new AbortController();
  const body = { model: "local", messages: [{ role: "user", content: "long" }], stream: true };
  const stream = await service.post("/v1/chat/completions", body, { signal: leaving.signal });
  const reader = stream.body?.getReader();
  await reader?.read();
  leaving.abort();
  // Its only slot is free again.
  expect(await (await say("local", { stream: true })).text()).toContain("[DONE]");
  await eventually(() =>
    expect(service.log()).toContainEqual(expect.objectContaining({ status: 499, model: "local" })),
  );
  const form = new FormData();
  form.set("purpose", "batch");
  form.set("file", new Blob(["x".repeat(300_000)]), "lines.jsonl");
  const uploaded = await service.fetch("/v1/files", { method: "POST", body: form });
  expect(await uploaded.json()).toMatchObject({ object: "file", bytes: 300_000 });
});

test("mirrors chats to a local model", async () => {
  expect(await statuses(4, () => say("mirrored"))).toEqual(new Map([[200, 4]]));
  await eventually(async () =>
    expect(await metric('parlance_mirrored_requests_total{model="mirrored",outcome="finished"}')).toBe(4),
  );
});

test("limits the connections of an address over all workers", async () => {
  const { port } = new URL(service.origin);
  const sockets = Array.from({ length: CONNECTIONS + 20 }, () =>
    connect(Number(port), "127.0.0.1").on("error", () => {}),
  );
  const open = () => sockets.filter(({ destroyed }) => !destroyed).length;
  await eventually(() => expect(open()).toBeLessThanOrEqual(CONNECTIONS));
  // Other connections of the tests count, too.
  expect(open()).toBeGreaterThan(CONNECTIONS / 2);
  for (const socket of sockets) socket.destroy();
  await eventually(async () => expect((await say("local")).status).toBe(200));
});

test("passes WebSockets on to the owner", async () => {
  const socket = new WebSocket(`${service.origin.replace("http", "ws")}/v1/realtime?model=local`, [
    "realtime",
    `openai-insecure-api-key.${service.apiKey}`,
  ]);
  const message = await new Promise<string>((resolve, reject) => {
    socket.onmessage = ({ data }) => resolve(String(data));
    socket.onerror = reject;
  });
  expect(JSON.parse(message)).toMatchObject({ type: "session.created" });
  socket.close();
});

test("loses only the requests of a killed worker, which is replaced", async () => {
  expect(await statuses(9, () => say("recorded"))).toEqual(new Map([[200, 9]]));
  // A killed worker loses what it had not passed on yet.
  await eventually(async () => expect(await recordedRequests("recorded")).toBe(9));
  const before = workers();
  const streams = await Promise.all(Array.from({ length: CONCURRENT }, () => say("slow", { stream: true })));
  expect(streams.map(({ status }) => status)).toEqual(Array(CONCURRENT).fill(200));
  expect((await say("slow")).status).toBe(429);
  const [victim, pid = 0] = [...before][0] ?? [];
  process.kill(pid, "SIGKILL");
  const texts = await Promise.allSettled(streams.map((stream) => stream.text()));
  const whole = texts.filter((each) => each.status === "fulfilled" && each.value.includes("[DONE]")).length;
  // The system gives connections to workers by its own rules, so that the victim may have had most of them.
  await eventually(() => expect(answersOfOthers("slow", victim)).toBe(whole));
  await eventually(() => expect(workers().get(victim ?? 0)).not.toBe(pid));
  // All reservations are released, those of the killed worker, too.
  const again = await Promise.all(Array.from({ length: CONCURRENT }, () => say("slow", { stream: true })));
  for (const stream of again) await stream.body?.cancel();
  expect(again.map(({ status }) => status)).toEqual(Array(CONCURRENT).fill(200));
  await eventually(async () => expect(await recordedRequests("recorded")).toBe(9));
});

test("applies a reload in all workers", async () => {
  const written = await readFile(service.configFile, "utf8");
  const added = `  - { id: added, task: chat, deployments: [{ engine: openai-compatible, base_url: "${upstream.baseUrl}", model: inner }] }\n`;
  await writeFile(service.configFile, `${written}${added}`);
  service.process.kill("SIGHUP");
  await eventually(() =>
    expect(service.log()).toContainEqual(expect.objectContaining({ msg: "configuration reloaded" })),
  );
  expect(await statuses(9, () => say("added"))).toEqual(new Map([[200, 9]]));
  await eventually(() => expect(workersThatAnswered("added").size).toBe(3));
});

test("finishes the streams of all workers on SIGTERM", async () => {
  const draining = await startServiceProcess({ config: config() });
  onTestFinished(async () => void (await draining.stop()));
  const body = { model: "slow", messages: [{ role: "user", content: "Hm." }], stream: true };
  const streams = await Promise.all(
    Array.from({ length: 6 }, () => draining.post("/v1/chat/completions", body, { headers: { connection: "close" } })),
  );
  draining.process.kill("SIGTERM");
  for (const stream of streams) expect(await stream.text()).toContain("[DONE]");
  expect(await draining.stop()).toBe(0);
});
