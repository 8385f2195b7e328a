/** Forwarding of a caller's headers to upstreams, for every task. */

import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type InProcessService, startService } from "../support/service/service.ts";
import { makeWave } from "../support/service/wave.ts";

const OPERATIONS = {
  chat: (headers) => post("/v1/chat/completions", { messages: [{ role: "user", content: "Go." }] }, headers),
  embedding: (headers) => post("/v1/embeddings", { input: "Go." }, headers),
  moderation: (headers) => post("/v1/moderations", { input: "Go." }, headers),
  speech: (headers) => post("/v1/audio/speech", { input: "Go.", voice: "low" }, headers),
  transcription: (headers) => upload("/v1/audio/transcriptions", headers),
  translation: (headers) => upload("/v1/audio/translations", headers),
} as const satisfies Record<string, (headers: Record<string, string>) => Promise<Response>>;

const UPSTREAM_KEY = "sk-of-the-upstream";

let upstream: Server;
let seen: IncomingHttpHeaders[] = [];
let service: InProcessService;
beforeAll(async () => {
  upstream = createServer((request, response) => {
    request.resume();
    request.on("end", () => {
      seen.push(request.headers);
      response.writeHead(400, { "content-type": "application/json" }).end('{"error":{"message":"No."}}');
    });
  });
  upstream.listen(0, "127.0.0.1");
  await once(upstream, "listening");
  const { port } = upstream.address() as AddressInfo;
  const rules = "forward_headers: [traceparent, x-*], strip_headers: [x-secret], headers: { x-region: ours }";
  const deployment = `{ engine: openai-compatible, base_url: "http://127.0.0.1:${port}/v1", api_key: ${UPSTREAM_KEY}, ${rules} }`;
  const tasks = ["chat", "embedding", "moderation", "speech", "transcription"];
  const models = tasks.map((task) => `  - { id: ${task}, task: ${task}, deployments: [${deployment}] }\n`);
  service = await startService({ config: `builtin_models: false\nmodels:\n${models.join("")}` });
});
afterAll(async () => {
  await service.stop();
  upstream.closeAllConnections();
  upstream.close();
});

function post(path: string, body: object, headers: Record<string, string>): Promise<Response> {
  const tasks = { completions: "chat", embeddings: "embedding", speech: "speech", moderations: "moderation" };
  const task = tasks[path.split("/").at(-1) as keyof typeof tasks];
  return service.post(path, { model: task, ...body }, { headers: { ...headers, "content-type": "application/json" } });
}

function upload(path: string, headers: Record<string, string>): Promise<Response> {
  const form = new FormData();
  form.append("file", new Blob([makeWave({ seconds: 0.2 })]), "name.wav");
  form.append("model", "transcription");
  return service.fetch(path, { method: "POST", body: form, headers });
}

test.each(Object.entries(OPERATIONS))("%s: those that are named, and never the caller's key", async (_name, ask) => {
  seen = [];
  const sent = { traceparent: "00-abc", "x-team": "blue", "x-secret": "hidden", "x-region": "theirs", "y-other": "no" };
  expect((await ask({ ...sent, cookie: "a=b" })).status).toBe(400);
  expect(seen).toHaveLength(1);
  expect(seen[0]).toMatchObject({
    traceparent: "00-abc",
    "x-team": "blue",
    "x-region": "ours",
    authorization: `Bearer ${UPSTREAM_KEY}`,
  });
  expect(Object.keys(seen[0] ?? {}).filter((name) => /x-secret|y-other|cookie/.test(name))).toEqual([]);
  expect(JSON.stringify(seen)).not.toContain(service.apiKey);
});
