/** What a request costs whose client disconnects before the answer. */

import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "./support/eventually.ts";
import { type Service, startService } from "./support/service.ts";

let upstream: Service;
let service: Service;

beforeAll(async () => {
  upstream = await startService({
    config: `
builtin_models: false
models:
  - { id: slow, task: chat, deployments: [{ engine: scripted, replies: [{ match: slow, text: "a b c", delay_ms_per_token: 60000 }], echo: true }] }
`,
  });
  service = await startService({
    config: `
builtin_models: false
models:
  - id: up/*
    task: chat
    deployments:
      - { engine: openai-compatible, base_url: "${upstream.baseUrl}", api_key: "${upstream.apiKey}" }
`,
  });
});

afterAll(async () => {
  await Promise.all([service?.stop(), upstream?.stop()]);
});

interface Usage {
  data: { results: { model: string; input_tokens: number; num_model_requests: number }[] }[];
}

test("records the prompt of an unstreamed chat that was sent upstream, under the catalog entry's name", async () => {
  const leaving = new AbortController();
  const messages = [{ role: "user", content: `slow ${"x".repeat(395)}` }];
  const body = { model: "up/slow", messages };
  const answer = service.post("/v1/chat/completions", body, { signal: leaving.signal }).catch(() => undefined);
  await eventually(async () => {
    const metrics = await (await fetch(`${upstream.origin}/metrics`)).text();
    expect(metrics).toMatch(/parlance_slots_in_use\{[^}]*\} 1/);
  });
  leaving.abort();
  await answer;
  await eventually(async () => {
    const start = Math.floor(Date.now() / 1000) - 86_400;
    const path = `/v1/organization/usage/completions?start_time=${start}&bucket_width=1h&limit=48&group_by=model`;
    const response = await service.fetch(path, { headers: { authorization: `Bearer ${service.adminKey}` } });
    const { data } = (await response.json()) as Usage;
    const results = data.flatMap((bucket) => bucket.results);
    expect(results).toEqual([expect.objectContaining({ model: "up/*", input_tokens: 100, num_model_requests: 1 })]);
  });
});
