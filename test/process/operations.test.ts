/** Health, metrics and the log, on the service's port or on a separate one. */

import { chmod, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { eventually } from "../support/service/eventually.ts";
import { type ServiceProcess, startServiceProcess } from "../support/service/service-process.ts";

const MODELS = `
models:
  - id: parrot
    task: chat
    deployments: [{ engine: scripted, slots: 1, replies: [{ match: slow, text: "a b c", delay_ms_per_token: 60000 }], echo: true }]
`;

let service: ServiceProcess | undefined;
afterEach(() => service?.stop());

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((listening) => probe.listen(0, "127.0.0.1", listening));
  const { port } = probe.address() as AddressInfo;
  await new Promise((closed) => probe.close(closed));
  return port;
}

const authorized = (key = "") => ({ headers: { authorization: `Bearer ${key}` } });

const ask = (content: string) => ({ model: "parrot", messages: [{ role: "user", content }] });

test("measures requests, tokens, time to first token, queue and slots without keys or per-caller series", async () => {
  service = await startServiceProcess({ config: `builtin_models: false\n${MODELS}` });
  const { origin, post } = service;
  expect((await post("/v1/chat/completions", ask("one two"))).status).toBe(200);
  expect((await post("/v1/chat/completions", { ...ask("x"), model: "made-up-by-a-caller" })).status).toBe(404);
  const leaving = new AbortController();
  const slow = post("/v1/chat/completions", ask("slow"), { signal: leaving.signal }).catch(() => undefined);
  const waiting = post("/v1/chat/completions", ask("x"), { signal: leaving.signal }).catch(() => undefined);
  const scrape = async () => (await fetch(`${origin}/metrics`)).text();
  await eventually(async () => {
    const text = await scrape();
    expect(text).toMatch(/parlance_queue_length\{[^}]*model="parrot"[^}]*\} 1/);
    expect(text).toMatch(/parlance_slots_in_use\{[^}]*model="parrot"[^}]*\} 1/);
  });
  const text = await scrape();
  expect(text).toContain('parlance_requests_total{operation="chat/completions",model="parrot",status="200"} 1');
  expect(text).toContain('parlance_requests_total{operation="chat/completions",model="",status="404"} 1');
  expect(text).toMatch(/parlance_tokens_total\{[^}]*direction="completion"[^}]*\} 2/);
  expect(text).toMatch(/parlance_time_to_first_token_seconds_count\{[^}]*\} 1/);
  expect(text).toMatch(/process_resident_memory_bytes \d+/);
  expect(text).not.toContain("made-up-by-a-caller");
  leaving.abort();
  await Promise.all([slow, waiting]);
});

test("logs one line per request without prompt, answer or key", async () => {
  service = await startServiceProcess({ config: `builtin_models: false\n${MODELS}` });
  const response = await service.post("/v1/chat/completions", ask("my private question"), {
    headers: { "x-client-request-id": "mine-1" },
  });
  const requestId = response.headers.get("x-request-id");
  await eventually(() => expect(service?.log()).toContainEqual(expect.objectContaining({ requestId })));
  const lines = service.log().filter((line) => line.requestId === requestId);
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatchObject({
    status: 200,
    model: "parrot",
    clientRequestId: "mine-1",
    outcome: "finished",
    completionTokens: 3,
    keyId: expect.any(String),
    durationMs: expect.any(Number),
  });
  expect(service.output()).not.toContain("private");
  expect(service.output()).not.toContain(service.apiKey);
});

test("serves health and metrics only on a separate address when configured", async () => {
  const port = await freePort();
  const config = `builtin_models: false\nserver: { operations: { host: 127.0.0.1, port: ${port} } }\n${MODELS}`;
  service = await startServiceProcess({ config, until: "listening" });
  await eventually(async () => expect((await fetch(`http://127.0.0.1:${port}/health/ready`)).status).toBe(200));
  expect((await fetch(`http://127.0.0.1:${port}/metrics`)).status).toBe(200);
  expect((await fetch(`${service.origin}/metrics`)).status).toBe(404);
  expect((await fetch(`http://127.0.0.1:${port}/v1/models`)).status).toBe(404);
});

test("reports a model that fails to open, with the reason, while others become ready", async () => {
  const missing = "  - { id: gone, task: chat, deployments: [{ engine: llama-cpp, file: /no/such/model.gguf }] }\n";
  service = await startServiceProcess({ config: `builtin_models: false\n${MODELS}${missing}` });
  const origin = service.origin;
  const asAdmin = (path: string) => fetch(`${origin}${path}`, authorized(service?.adminKey));
  await eventually(async () => {
    const { models } = (await (await asAdmin("/health/ready")).json()) as { models: unknown[] };
    expect(models).toContainEqual(
      expect.objectContaining({ id: "gone", state: "failed", reason: expect.stringContaining("/no/such/model.gguf") }),
    );
  });
  const response = await service.post("/v1/chat/completions", { ...ask("x"), model: "gone" });
  expect(response.status).toBe(503);
  expect(Number(response.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
  expect(await response.json()).toMatchObject({ error: { code: "engine_failed", type: "service_unavailable_error" } });
  await eventually(async () => {
    const failed = 'parlance_requests_total{operation="chat/completions",model="gone",status="503"} 1';
    expect(await (await fetch(`${origin}/metrics`)).text()).toContain(failed);
  });
  expect((await service.post("/v1/chat/completions", ask("x"))).status).toBe(200);
});

test("shows models, paths and reasons of /health/ready to admin keys only", async () => {
  const missing =
    "  - { id: gone, task: chat, hidden: true, aliases: [vanished], deployments: [{ engine: llama-cpp, file: /no/such/model.gguf }] }\n";
  service = await startServiceProcess({ config: `builtin_models: false\n${MODELS}${missing}` });
  const { apiKey, adminKey, origin } = service;
  const ready = async (init?: RequestInit) => (await fetch(`${origin}/health/ready`, init)).json();
  const state = { status: "ready", database: { state: "up" } };
  expect(await ready()).toEqual(state);
  expect(await ready(authorized(apiKey))).toEqual(state);
  expect((await fetch(`${origin}/health/ready`, authorized("sk-wrong"))).status).toBe(401);
  expect(JSON.stringify(await ready(authorized(adminKey)))).toContain("gone");
});

test("requires the configured key for /metrics", async () => {
  const metricsKey = `metrics-${"m".repeat(32)}`;
  service = await startServiceProcess({ environment: { PARLANCE_METRICS_KEY: metricsKey } });
  const scrape = async (init?: RequestInit) => (await fetch(`${service?.origin}/metrics`, init)).status;
  expect([await scrape(), await scrape(authorized(service.apiKey)), await scrape(authorized(metricsKey))]).toEqual([
    401, 401, 200,
  ]);
});

test("keeps the data directory and the database private to their owner", async () => {
  const parent = await mkdtemp(join(tmpdir(), "parlance-modes-"));
  const data = join(parent, "data");
  service = await startServiceProcess({ environment: { PARLANCE_DATA_DIR: data } });
  const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);
  expect(await modeOf(data)).toBe("700");
  for (const name of ["parlance.sqlite", "parlance.sqlite-wal", "service.lock"])
    expect(await modeOf(join(data, name))).toBe("600");
  expect(service.output()).not.toContain("chmod");
  await service.stop();
  await rm(parent, { recursive: true });
});

test("makes a data directory private that other users can access", async () => {
  const data = await mkdtemp(join(tmpdir(), "parlance-modes-"));
  await chmod(data, 0o755);
  service = await startServiceProcess({ environment: { PARLANCE_DATA_DIR: data } });
  expect((await stat(data)).mode & 0o777).toBe(0o700);
  await service.stop();
  await rm(data, { recursive: true });
});

test("only warns about a directory with other files, with the command that narrows it", async () => {
  const data = await mkdtemp(join(tmpdir(), "parlance-modes-"));
  await writeFile(join(data, "letter.txt"), "Dear");
  await chmod(data, 0o755);
  service = await startServiceProcess({ environment: { PARLANCE_DATA_DIR: data } });
  const warnings = service.log().filter(({ msg }) => String(msg).includes(`chmod 700 ${data}`));
  expect(warnings).toMatchObject([{ level: "warn", msg: expect.stringContaining("mode 755") }]);
  expect((await stat(data)).mode & 0o777).toBe(0o755);
  await service.stop();
  await rm(data, { recursive: true });
});

test("shows metrics of hidden models to operators only", async () => {
  const hidden = MODELS.replace("task: chat", "task: chat\n    hidden: true");
  const models = `${hidden}${MODELS.replace("models:", "").replace("parrot", "macaw").replace("task: chat", "task: chat\n    fallbacks: [parrot]")}`;
  service = await startServiceProcess({ config: `builtin_models: false\n${models}` });
  const { origin, adminKey, apiKey } = service;
  const scrape = async (init?: RequestInit) => (await fetch(`${origin}/metrics`, init)).text();
  expect((await service.post("/v1/chat/completions", { ...ask("Hi"), model: "macaw" })).status).toBe(200);
  for (const text of [await scrape(), await scrape(authorized(apiKey))]) {
    expect(text).not.toContain("parrot");
    expect(text).toContain('model="macaw"');
  }
  expect(await scrape(authorized(adminKey))).toContain('model="parrot"');
});
