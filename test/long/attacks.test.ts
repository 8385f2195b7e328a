/** One project attacks; another project's plain chat and the health check stay fast. */

import { setTimeout as pause } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { afterAll, beforeAll, expect, test } from "vitest";
import { untilModerationReady } from "../support/models/moderation-ready.ts";
import type { Attack } from "../support/service/attacker.ts";
import { type ServiceProcess, startServiceProcess } from "../support/service/service-process.ts";

const JSON_TYPE = "application/json";
const MAX_MS = 250;
const SECONDS = Number(process.env.PARLANCE_ATTACK_SECONDS ?? 10);
const CONTROL_SECONDS = Math.min(3, SECONDS);
/** Nothing listens at the upstream: what an attack costs is spent before. */
const CONFIG = `
builtin_models: false
server: { request_timeout_seconds: 20 }
models:
  - { id: plain, task: chat, deployments: [{ engine: scripted, replies: [{ text: Hello. }] }] }
  - { id: guard, task: moderation, deployments: [{ engine: classifier }] }
  - id: checked
    task: chat
    deployments: [{ engine: openai-compatible, base_url: "http://127.0.0.1:9/v1", abilities: { json_schema: false } }]
  - { id: scripted-ears, task: transcription, deployments: [{ engine: scripted, replies: [{ text: One. }] }] }
`;

let service: ServiceProcess;
let otherKey: string;
beforeAll(async () => {
  service = await startServiceProcess({ config: CONFIG });
  await untilModerationReady(service, "guard");
  otherKey = await newKey();
});
afterAll(() => service.stop());

/** Creates a key of a project that the attacker is not in. */
async function newKey(): Promise<string> {
  const headers = { "content-type": JSON_TYPE, authorization: `Bearer ${service.adminKey}` };
  const post = async (path: string) =>
    (await service.post(`/v1/organization/${path}`, { name: "other" }, { headers })).json() as Promise<{
      id: string;
      api_key: { value: string };
    }>;
  const { id } = await post("projects");
  return (await post(`projects/${id}/service_accounts`)).api_key.value;
}

const repeat = (count: number, write: (index: number) => string) => Array.from({ length: count }, (_, i) => write(i));
const user = '{"role":"user","content":"Hello."}';
const chat = (fields: string, model = "plain", messages = user) =>
  `{"model":"${model}","messages":[${messages}],${fields}}`;
const schema = (pattern: string) => {
  const properties = Object.fromEntries(
    repeat(50, (index) => `p${index}`).map((name) => [name, { type: "string", pattern }]),
  );
  return JSON.stringify({ type: "json_schema", json_schema: { name: "s", schema: { type: "object", properties } } });
};
const long = "The meeting begins at ten, and the minutes will follow tomorrow. ".repeat(15_000);

const ATTACKS: Record<string, [path: string, body: string, type?: string]> = {
  "patterns that take exponential time": [
    "chat/completions",
    chat(`"response_format":${schema("^([a-z]{1,40}|[0-9]{2,20}){1,9}$")}`, "checked"),
  ],
  "a pattern that backtracks": [
    "chat/completions",
    chat(`"n":30,"response_format":${schema("^(a+)+\\b$")}`, "checked"),
  ],
  "30,000 messages": ["chat/completions", chat('"n":1', "plain", repeat(30_000, () => user).join(","))],
  "120,000 messages": ["chat/completions", chat('"n":1', "plain", repeat(120_000, () => user).join(","))],
  "1,000,000 unknown keys": ["chat/completions", chat(repeat(1_000_000, (index) => `"k${index}":1`).join(","))],
  "1,000,000 keys of metadata": [
    "chat/completions",
    chat(`"metadata":{${repeat(1_000_000, (index) => `"k${index}":"a"`)}}`),
  ],
  "3,000,000 objects in stop": ["chat/completions", chat(`"stop":[${repeat(3_000_000, () => "{}")}]`)],
  "a valid body of 19 MB": [
    "chat/completions",
    chat('"n":1', "checked", repeat(19, () => `{"role":"user","content":"${"a b ".repeat(250_000)}"}`).join(",")),
  ],
  "a megabyte of moderation": ["moderations", JSON.stringify({ model: "guard", input: long })],
  "500,000 parts without headers": [
    "audio/transcriptions",
    "--B\r\n\r\n\r\n".repeat(500_000),
    "multipart/form-data; boundary=B",
  ],
};

/** Small requests as fast as the attacker's connections send them: what any load of this machine costs others. */
const HARMLESS: [path: string, body: string] = ["chat/completions", chat('"n":1')];

/** At one time, as one attacker keeps a few connections busy. */
const PARALLEL = 2;

interface Measured {
  p50: number;
  p99: number;
  max: number;
}

/** Milliseconds of requests, one after the other. */
async function measure(seconds: number, ask: () => Promise<Response>): Promise<Measured> {
  const until = performance.now() + seconds * 1000;
  const times: number[] = [];
  while (performance.now() < until) {
    const startedAt = performance.now();
    const response = await ask();
    expect(response.status).toBe(200);
    await response.arrayBuffer();
    times.push(performance.now() - startedAt);
    await pause(10);
  }
  times.sort((a, b) => a - b);
  const at = (share: number) => Math.round(times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0);
  return { p50: at(0.5), p99: at(0.99), max: at(1) };
}

/** Runs `work` while one project sends the same request on a few connections. */
async function during<Result>(
  [path, body, type = JSON_TYPE]: (typeof ATTACKS)[string],
  work: () => Promise<Result>,
): Promise<Result> {
  const headers = { "content-type": type, authorization: `Bearer ${service.apiKey}` };
  const attack: Attack = {
    url: `${service.baseUrl}/${path}`,
    headers,
    body: Buffer.from(body),
    parallel: PARALLEL,
  };
  const attacker = new Worker(new URL("../support/service/attacker.ts", import.meta.url), { workerData: attack });
  try {
    return await work();
  } finally {
    await attacker.terminate();
  }
}

const asOther = (path: string, body: unknown) => () =>
  service.post(path, body, { headers: { "content-type": JSON_TYPE, authorization: `Bearer ${otherKey}` } });
const askPlainChat = asOther("/v1/chat/completions", { model: "plain", messages: [{ role: "user", content: "Hi." }] });

interface Probes {
  chat: Measured;
  health: Measured;
}

async function probe(seconds: number): Promise<Probes> {
  const [chat, health] = await Promise.all([
    measure(seconds, askPlainChat),
    measure(seconds, () => service.fetch("/health/live")),
  ]);
  return { chat, health };
}

const table: Record<string, Record<string, number>> = {};
const note = (name: string, { chat, health }: Probes) => {
  table[name] = {
    "chat p50": chat.p50,
    "chat p99": chat.p99,
    "chat max": chat.max,
    "health p50": health.p50,
    "health p99": health.p99,
    "health max": health.max,
  };
};
afterAll(() => console.table(table));

test("without a load, and under a harmless one", async () => {
  await probe(1);
  note("(no load)", await probe(CONTROL_SECONDS));
  note("(small chats on as many connections)", await during(HARMLESS, () => probe(CONTROL_SECONDS)));
});

test.each(Object.entries(ATTACKS))(
  `%s from one project leave a plain chat of another and the health check below ${MAX_MS} ms`,
  async (name, attack) => {
    const measured = await during(attack, () => probe(SECONDS));
    note(name, measured);
    expect(measured.chat.p99).toBeLessThan(MAX_MS);
    expect(measured.health.p99).toBeLessThan(MAX_MS);
  },
);

test("a megabyte of moderation from one project leaves a short moderation of another below 1 s", async () => {
  const body = JSON.stringify({ model: "guard", input: long });
  const short = asOther("/v1/moderations", { model: "guard", input: "Hello." });
  const control = await measure(CONTROL_SECONDS, short);
  const attacked = await during(["moderations", body], () => measure(SECONDS, short));
  table["(short moderations, no load)"] = { "chat p50": control.p50, "chat p99": control.p99, "chat max": control.max };
  table["(short moderations beside a megabyte)"] = {
    "chat p50": attacked.p50,
    "chat p99": attacked.p99,
    "chat max": attacked.max,
  };
  expect(attacked.max).toBeLessThan(1000);
});
