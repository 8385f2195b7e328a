/** Valid, mutated and raw requests to every operation are answered or refused: never a 5xx, a hang or a crash. */

import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { resultWithin } from "../../src/async/timeout.ts";
import { fuzzRequest } from "../support/fuzz-requests.ts";
import type { FuzzRequest } from "../support/fuzz-uploads.ts";
import { type InProcessService, startInProcess } from "../support/in-process-service.ts";

const BODIES = Number(process.env.PARLANCE_FUZZ_BODIES ?? 200_000);
const PARALLEL = 16;
const MAX_MILLISECONDS = 20_000;

let upstream: Server;
let service: InProcessService;
/** Not the project of the key in use: its permissions and limits stay as they are. */
let project: string;
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
  service = await startInProcess(`
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
`);
  const created = await send({
    method: "POST",
    path: "organization/projects",
    type: "application/json",
    body: '{"name":"p"}',
    isAdministration: true,
  });
  project = (JSON.parse(created.text) as { id: string }).id;
});
afterAll(async () => {
  await service.close();
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
  isAdministration,
}: FuzzRequest): Promise<{ status: number; text: string }> {
  const key = isAdministration ? service.adminKey : service.apiKey;
  const headers = { authorization: `Bearer ${key}`, ...(type !== undefined && { "content-type": type }) };
  const url = `/v1/${path.replace("PROJECT", project)}`;
  if (type?.startsWith("multipart/") === true) {
    const response = await fetch(`${service.origin}${url}`, { method, headers, body: body as string });
    return { status: response.status, text: await response.text() };
  }
  const answer = await service.inject({ method, url, headers, ...(body !== undefined && { payload: body }) });
  return { status: answer.statusCode, text: answer.body };
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
            const answer = await resultWithin(send(request), MAX_MILLISECONDS);
            return { request, status: answer?.status ?? 0, text: answer?.text };
          }),
        );
        for (const { request, status } of answers) {
          const operation = request.path.startsWith("organization") ? "organization" : request.path;
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
