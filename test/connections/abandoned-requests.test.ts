/** Usage of requests whose clients disconnect before the answer. */

import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/service/eventually.ts";
import { type Service, startService } from "../support/service/service.ts";
import { deploymentAt } from "../support/upstreams/deployment-at.ts";

let upstream: Service;
let service: Service;
/** Reads requests and never answers. */
const silent = createServer((request) => void request.resume());

beforeAll(async () => {
  upstream = await startService({
    config: `
builtin_models: false
models:
  - { id: slow, task: chat, deployments: [{ engine: scripted, replies: [{ match: slow, text: "a b c", delay_ms_per_token: 60000 }], echo: true }] }
`,
  });
  silent.listen(0, "127.0.0.1");
  await once(silent, "listening");
  const { port } = silent.address() as AddressInfo;
  service = await startService({
    config: `
builtin_models: false
models:
  - id: up/*
    task: chat
    deployments:
      - ${deploymentAt(upstream)}
  - id: judge
    task: moderation
    deployments: [{ engine: openai-compatible, base_url: "http://127.0.0.1:${port}/v1", api_key: none }]
  - id: crier
    task: speech
    deployments: [{ engine: scripted, speech: { delay_ms_before_first: 60000 } }]
  - id: listener
    task: transcription
    deployments: [{ engine: scripted, replies: [{ text: "Hello there. Good bye.", delay_ms_per_token: 60000 }] }]
`,
  });
});

afterAll(async () => {
  await Promise.all([service?.stop(), upstream?.stop()]);
  silent.closeAllConnections();
  silent.close();
});

interface Usage {
  data: { results: Record<string, unknown>[] }[];
}

async function usageOf(kind: string) {
  const start = Math.floor(Date.now() / 1000) - 86_400;
  const path = `/v1/organization/usage/${kind}?start_time=${start}&bucket_width=1h&limit=48&group_by=model`;
  const response = await service.fetch(path, { headers: { authorization: `Bearer ${service.adminKey}` } });
  const { data } = (await response.json()) as Usage;
  return data.flatMap((bucket) => bucket.results);
}

async function untilSlotsInUse({ origin }: Service, model: string) {
  await eventually(async () => {
    const metrics = await (await fetch(`${origin}/metrics`)).text();
    expect(metrics).toMatch(new RegExp(`parlance_slots_in_use\\{[^}]*model="${model}"[^}]*\\} 1`));
  });
}

test("records the prompt of an unstreamed chat that was sent upstream, under the catalog entry's name", async () => {
  const leaving = new AbortController();
  const messages = [{ role: "user", content: `slow ${"x".repeat(395)}` }];
  const body = { model: "up/slow", messages };
  const answer = service.post("/v1/chat/completions", body, { signal: leaving.signal }).catch(() => undefined);
  await untilSlotsInUse(upstream, "slow");
  leaving.abort();
  await answer;
  await eventually(async () => {
    expect(await usageOf("completions")).toMatchObject([{ model: "up/*", input_tokens: 100, num_model_requests: 1 }]);
  });
});

test("records the text of a moderation that was sent upstream", async () => {
  const leaving = new AbortController();
  const sent = once(silent, "request");
  const body = { model: "judge", input: ["x".repeat(400), "y".repeat(40)] };
  const answer = service.post("/v1/moderations", body, { signal: leaving.signal }).catch(() => undefined);
  await sent;
  leaving.abort();
  await answer;
  await eventually(async () => {
    expect(await usageOf("moderations")).toMatchObject([{ model: "judge", input_tokens: 110, num_model_requests: 1 }]);
  });
});

test("records the characters of speech that the client had not received", async () => {
  const leaving = new AbortController();
  const body = { model: "crier", voice: "alloy", input: "Hear, hear!" };
  const answer = service.post("/v1/audio/speech", body, { signal: leaving.signal }).catch(() => undefined);
  await untilSlotsInUse(service, "crier");
  leaving.abort();
  await answer;
  await eventually(async () => {
    expect(await usageOf("audio_speeches")).toMatchObject([{ model: "crier", characters: 11, num_model_requests: 1 }]);
  });
});

test("records all the audio that a local transcription read, not only the segments it sent", async () => {
  const leaving = new AbortController();
  const form = new FormData();
  form.append(
    "file",
    new Blob([await readFile(join(import.meta.dirname, "../recordings", "speech.mp3"))]),
    "speech.mp3",
  );
  form.append("model", "listener");
  form.append("stream", "true");
  const { signal } = leaving;
  const { body } = await service.fetch("/v1/audio/transcriptions", { method: "POST", body: form, signal });
  const reader = body?.getReader();
  expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toContain("Hello there.");
  leaving.abort();
  await eventually(async () => {
    const [transcribed, ...others] = await usageOf("audio_transcriptions");
    expect(others).toEqual([]);
    expect(transcribed).toMatchObject({ model: "listener", seconds: 3, num_model_requests: 1 });
  });
});
