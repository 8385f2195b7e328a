/** What the history says about requests that failed, were repeated or waited for a model. */

import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Service, startService } from "../support/service/service.ts";

const REASON = "CUDA out of memory with key sk-upstream-secret";
const LOCAL = "smollm2-135m-instruct";
let upstream: Server;
let service: Service;

beforeAll(async () => {
  upstream = createServer((_request, response) => {
    response.writeHead(500, { "content-type": "application/json" });
    response.end(JSON.stringify({ error: { message: REASON } }));
  });
  await new Promise<void>((resolve) => upstream.listen(0, "127.0.0.1", resolve));
  const { port } = upstream.address() as AddressInfo;
  service = await startService({
    config: `builtin_models: true
local: { load: on_demand }
models:
  - { id: echo, task: chat, deployments: [{ engine: scripted, echo: true }] }
  - { id: judge, task: moderation, deployments: [{ engine: guard, family: llama-guard-3, chat: { engine: scripted, replies: [{ text: safe }] } }] }
  - id: broken
    task: chat
    deployments: [{ engine: openai-compatible, base_url: "http://127.0.0.1:${port}/v1", model: x }]
  - id: saved
    task: chat
    fallbacks: [echo]
    deployments: [{ engine: openai-compatible, base_url: "http://127.0.0.1:${port}/v1", model: x }]
`,
  });
});
afterAll(async () => {
  await service.stop();
  upstream.close();
});

async function historyOf(model: string, key = service.adminKey) {
  await service
    .client({ maxRetries: 0 })
    .chat.completions.create({ model, max_tokens: 4, messages: [{ role: "user", content: "private words" }] })
    .catch(() => {});
  const response = await fetch(`${service.baseUrl}/organization/requests?models=${model}`, {
    headers: { authorization: `Bearer ${key}` },
  });
  const { data } = (await response.json()) as { data: Record<string, unknown>[] };
  return data[0];
}

test("records an upstream's own message for administrators, without keys, and each attempt", async () => {
  const entry = await historyOf("broken");
  expect(entry).toMatchObject({
    status: 502,
    error: "upstream_error",
    error_message: expect.stringContaining("CUDA out of memory"),
  });
  const stages = entry?.stages as Record<string, unknown>[];
  expect(stages.length).toBe(entry?.attempts);
  expect(stages[0]).toMatchObject({ type: "attempt", error: "upstream_error", start_ms: expect.any(Number) });
  expect(JSON.stringify(entry)).not.toMatch(/upstream-secret|private words/);
});

test("gives a project's key the message that its client got", async () => {
  const entry = await historyOf("broken", service.apiKey);
  expect(entry?.error_message).toMatch(/^The upstream of .* failed with status 500\.$/);
  expect(JSON.stringify(entry)).not.toContain("CUDA");
});

test("records the failed attempt of a request that a fallback answered", async () => {
  const entry = await historyOf("saved");
  expect(entry).toMatchObject({ status: 200, answered_by: "echo", error_message: null });
  expect((entry?.stages as unknown[] | undefined)?.length).toBeGreaterThan(0);
});

test("records no stages for a plain request", async () => {
  expect(await historyOf("echo")).toMatchObject({ status: 200, stages: [], loading_ms: null });
});

test("records how long the prompt and the answer of a request were moderated", async () => {
  const { model, messages } = { model: "echo", messages: [{ role: "user", content: "Hello" }] };
  const body = {
    model,
    messages,
    moderation: { model: "judge", policy: { input: { mode: "score" }, output: { mode: "score" } } },
  };
  const response = await service.post("/v1/chat/completions", body);
  expect(response.status, await response.text()).toBe(200);
  const id = response.headers.get("x-request-id");
  const headers = { authorization: `Bearer ${service.adminKey}` };
  await expect
    .poll(async () => {
      const answer = await fetch(`${service.baseUrl}/organization/requests/${id}`, { headers });
      return ((await answer.json()) as { stages?: unknown[] }).stages;
    })
    .toMatchObject([
      { type: "moderation", deployment: "judge", error: null },
      { type: "moderation", deployment: "judge", error: null },
    ]);
});

test("records how long a request waited for its model to load", async () => {
  const entry = await historyOf(LOCAL);
  expect(entry?.loading_ms).toBeGreaterThan(20);
  expect(entry?.stages).toMatchObject([{ type: "load", error: null }]);
  expect((await historyOf(LOCAL))?.loading_ms).toBeNull();
});
