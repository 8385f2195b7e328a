/**
 * CPU time of requests over HTTP with and without recorded content, by turns in one service:
 * `node bench/recorded-content/over-http.ts [requests] [postgresql]`.
 */

import { setTimeout as pause } from "node:timers/promises";
import { startPostgres } from "../../test/support/databases/postgres.ts";
import { startServiceProcess } from "../../test/support/service/service-process.ts";
import { cpuSeconds } from "../gateways/processes.ts";

const requests = Number(process.argv[2] ?? 10_000);
const server = process.argv[3] === "postgresql" ? await startPostgres() : undefined;
const url = (await server?.createDatabase())?.reveal();
const TURNS = 5;
const CONNECTIONS = 16;
/** The writes that follow the answers are over when the service uses less CPU than this in half a second. */
const IDLE_SECONDS = 0.05;
const SETTLE_MS = 500;

const WORDS = Array.from({ length: 20_000 }, (_, index) => `w${index.toString(36)}`);
/** Words with frequencies as in a language: the n-th most common one with the probability 1/n. */
const word = () => WORDS[Math.floor(Math.exp(Math.random() * Math.log(WORDS.length)))] ?? "w";
const text = (words: number) => Array.from({ length: words }, word).join(" ");
const prompts = Array.from({ length: 200 }, () => text(300));

const service = await startServiceProcess({
  until: "listening",
  config: `
builtin_models: false
log_level: fatal
models: [{ id: model, task: chat, deployments: [{ engine: scripted, replies: [{ text: "${text(150)}" }], slots: 64 }] }]
`,
  environment: {
    PARLANCE_ENCRYPTION_KEY: "k".repeat(40),
    ...(url !== undefined && { DATABASE_URL: url }),
  },
});

const pid = service.process.pid ?? 0;

async function administer<Answer>(path: string, body: object): Promise<Answer> {
  const headers = { authorization: `Bearer ${service.adminKey}`, "content-type": "application/json" };
  const options = { method: "POST", headers, body: JSON.stringify(body) };
  const response = await fetch(`${service.baseUrl}/organization${path}`, options);
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as Answer;
}

async function projectThat(recording: object): Promise<string> {
  const { id } = await administer<{ id: string }>("/projects", { name: JSON.stringify(recording) });
  await administer(`/projects/${id}/recording`, recording);
  const account = { name: "bench" };
  const created = await administer<{ api_key: { value: string } }>(`/projects/${id}/service_accounts`, account);
  return created.api_key.value;
}

async function cpuOfRequest(key: string, count: number): Promise<number> {
  const began = cpuSeconds(pid);
  let sent = 0;
  const send = async () => {
    while (sent < count) {
      const content = prompts[sent % prompts.length];
      sent += 1;
      const response = await fetch(`${service.baseUrl}/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify({ model: "model", messages: [{ role: "user", content }] }),
      });
      if (response.status !== 200) throw new Error(`status ${response.status}`);
      await response.text();
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, send));
  for (let before = 0; cpuSeconds(pid) - before > IDLE_SECONDS; ) {
    before = cpuSeconds(pid);
    await pause(SETTLE_MS);
  }
  return ((cpuSeconds(pid) - began) * 1e6) / count;
}

const shapes = {
  "nothing recorded": await projectThat({ record_content: "off" }),
  recorded: await projectThat({ record_content: "all", redact: [], search: false }),
  "masked and searchable": await projectThat({ record_content: "all", redact: ["pii", "secrets"], search: true }),
};
const results = new Map<string, number[]>();
for (const key of Object.values(shapes)) await cpuOfRequest(key, Math.ceil(requests / 10));
for (let turn = 0; turn < TURNS; turn += 1) {
  for (const [name, key] of Object.entries(shapes)) {
    const times = results.get(name) ?? [];
    results.set(name, [...times, await cpuOfRequest(key, Math.ceil(requests / TURNS))]);
  }
}
console.log(
  `${requests} requests each, 1.8 kB of text, ${url === undefined ? "SQLite" : "PostgreSQL"}, ${TURNS} turns`,
);
for (const [name, times] of results) {
  const sorted = times.toSorted((a, b) => a - b);
  const [least, median, most] = [0, Math.floor(TURNS / 2), TURNS - 1].map((place) => sorted[place]?.toFixed(0));
  console.log(`${name}: ${median} µs of the service's CPU a request (${least} to ${most})`);
}
await service.stop();
await server?.[Symbol.asyncDispose]();
