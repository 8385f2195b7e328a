/** Valid, mutated and raw requests to every operation are answered or refused: never a 5xx, a hang or a crash. */

import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { resultWithin } from "../../src/kernel/async/timeout.ts";
import { fuzzRequest } from "../support/fuzz/fuzz-requests.ts";
import { PLACEHOLDERS, type Placeholder } from "../support/fuzz/fuzz-stored.ts";
import type { FuzzRequest } from "../support/fuzz/fuzz-uploads.ts";
import { type InProcessService, startService } from "../support/service/service.ts";

const BODIES = Number(process.env.PARLANCE_FUZZ_BODIES ?? 200_000);
const PARALLEL = 16;
const MAX_MS = 20_000;

let upstream: Server;
let service: InProcessService;
beforeAll(async () => {
  upstream = createServer((request, response) => {
    void json(request)
      .catch(() => ({}))
      .then((body) => {
        const isStreamed = (body as { stream?: unknown }).stream === true;
        const answer = JSON.stringify(answerTo(request.url ?? "", body as Record<string, unknown>, isStreamed));
        response.setHeader("content-type", isStreamed ? "text/event-stream" : "application/json");
        response.end(isStreamed ? `data: ${answer}\n\ndata: [DONE]\n\n` : answer);
      });
  });
  await new Promise<void>((listening) => upstream.listen(0, "127.0.0.1", listening));
  const baseUrl = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/v1`;
  service = await startService({
    config: `
builtin_models: false
local: { load: start, unload_after_seconds: 0 }
server: { max_upload_bytes: 1000000 }
models:
  - id: m
    task: chat
    max_queue: 1000
    deployments: [{ engine: scripted, replies: [{ text: Hi. }], abilities: { tools: true, json_schema: true, choices: 128, reasoning: true } }]
  - { id: upstream, task: chat, deployments: [{ engine: openai-compatible, base_url: "${baseUrl}" }] }
  - { id: vectors, task: embedding, deployments: [{ engine: openai-compatible, base_url: "${baseUrl}" }] }
  - { id: ears, task: transcription, max_queue: 1000, deployments: [{ engine: scripted, replies: [{ text: One. }] }] }
  - { id: voice, task: speech, max_queue: 1000, deployments: [{ engine: scripted, speech: {} }] }
  - id: guard
    task: moderation
    max_queue: 1000
    deployments: [{ engine: guard, family: llama-guard-3, chat: { engine: scripted, replies: [{ text: safe }] } }]
`,
  });
  const type = "application/json";
  await send({ method: "POST", path: "organization/projects", type, body: '{"name":"p"}', isAdministration: true });
});
afterAll(async () => {
  await service.stop();
  upstream.closeAllConnections();
  upstream.close();
});

function answerTo(path: string, body: Record<string, unknown>, isStreamed: boolean): unknown {
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  if (path.endsWith("/embeddings")) {
    const inputs = Array.isArray(body.input) && typeof body.input[0] !== "number" ? body.input : [body.input];
    const data = inputs.map((_input, index) => ({ object: "embedding", index, embedding: [0.5, 0.5, 0] }));
    return { object: "list", data, model: "vectors", usage };
  }
  const message = { role: "assistant", content: "Hi." };
  const content = { [isStreamed ? "delta" : "message"]: message, finish_reason: "stop" };
  const choices = Array.from({ length: Number(body.n ?? 1) }, (_, index) => ({ index, ...content }));
  return { id: "1", object: "chat.completion", created: 1, model: "m", choices, usage };
}

async function send({
  method,
  path,
  type,
  body,
  headers: further,
  isAdministration,
}: FuzzRequest): Promise<{ status: number; text: string }> {
  const key = isAdministration ? service.adminKey : service.apiKey;
  const ownHeaders = path.startsWith("/") ? {} : { authorization: `Bearer ${key}` };
  const headers = { ...ownHeaders, ...further, ...(type !== undefined && { "content-type": type }) };
  const url = withIds(path.startsWith("/") ? path : `/v1/${path}`);
  if (type?.startsWith("multipart/") === true) {
    const response = await fetch(`${service.origin}${url}`, { method, headers, body: body as string });
    return { status: response.status, text: await response.text() };
  }
  const payload = typeof body === "string" ? withIds(body) : body;
  const answer = await service.inject({ method, url, headers, ...(payload !== undefined && { payload }) });
  collectIds(path, answer.body);
  return { status: answer.statusCode, text: answer.body };
}

/** Ids of the latest resources, for requests that refer to them. */
const ids = new Map<Placeholder, string[]>(PLACEHOLDERS.map((name) => [name, []]));
const KEPT_IDS = 20;
let replaced = 0;

function withIds(template: string): string {
  return PLACEHOLDERS.reduce((result, name) => {
    const known = ids.get(name) ?? [];
    replaced += 1;
    return result.replaceAll(name, known[replaced % Math.max(1, known.length)] ?? "none");
  }, template);
}

function collectIds(path: string, answer: string): void {
  const keep = (name: Placeholder, id: string) => ids.set(name, [id, ...(ids.get(name) ?? [])].slice(0, KEPT_IDS));
  if (path === "organization/projects") {
    // Not the project of the key in use: its permissions and limits stay as they are.
    const [id] = /proj_\w+/.exec(answer) ?? [];
    if (id !== undefined) ids.set("PROJECT", [id]);
  }
  if (!path.startsWith("responses") && !path.startsWith("conversations")) return;
  const isBackground = answer.includes('"background":true');
  for (const [id, kind] of answer.matchAll(/\b(resp|conv|msg|fc|ctc|fco)_[0-9a-f]{16,}/g)) {
    if (kind === "resp") keep(isBackground ? "BACKGROUND" : "RESPONSE", id);
    else keep(kind === "conv" ? "CONVERSATION" : "ITEM", id);
  }
}

test(
  `${BODIES} requests to all operations are answered or refused`,
  async () => {
    const counts = new Map<string, Map<number, number>>();
    let sent = 0;
    const startedAt = performance.now();
    await fc.assert(
      fc.asyncProperty(fc.array(fuzzRequest, { minLength: PARALLEL, maxLength: PARALLEL }), async (batch) => {
        const answers = await Promise.all(
          batch.map(async (request) => {
            const answer = await resultWithin(send(request), MAX_MS);
            return { request, status: answer?.status ?? 0, text: answer?.text };
          }),
        );
        for (const { request, status } of answers) {
          const [operation = ""] =
            request.path.split("/")[0] === "organization" ? ["organization"] : request.path.split("?");
          const statuses = counts.get(operation) ?? new Map<number, number>();
          counts.set(operation, statuses.set(status, (statuses.get(status) ?? 0) + 1));
        }
        sent += batch.length;
        const wrong = answers.filter(({ status }) => status === 0 || status >= 500);
        expect(wrong.map(({ request, status, text }) => `${status} ${request.path} ${request.body}: ${text}`)).toEqual(
          [],
        );
      }),
      { numRuns: Math.ceil(BODIES / PARALLEL), endOnFailure: true },
    );
    console.log(`${sent} requests in ${Math.round((performance.now() - startedAt) / 1000)} s`);
    for (const [operation, statuses] of counts) {
      const all = [...statuses.values()].reduce((sum, count) => sum + count, 0);
      const answered = Math.round((100 * (statuses.get(200) ?? 0)) / all);
      console.log(
        `${operation}: ${all}, ${answered}% answered: ${JSON.stringify(Object.fromEntries([...statuses].sort()))}`,
      );
    }
  },
  12 * 3_600_000,
);
