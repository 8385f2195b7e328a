/** Valid bodies near the size limit leave the event loop free: they are parsed and written in threads. */

import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { mainThreadMs } from "../support/service/main-thread-ms.ts";
import { type ServiceProcess, startServiceProcess } from "../support/service/service-process.ts";
import { CHECKS_DURATIONS, expectBelow } from "../support/timing.ts";

/** What one request may take from others. */
const MAX_BLOCKED_MS = 250;
/** The smallest of several maxima: other processes of a busy machine only add to a delay. */
const ATTEMPTS = CHECKS_DURATIONS ? 4 : 1;

let upstream: Server;
let service: ServiceProcess;
let receivedBytes = 0;
beforeAll(async () => {
  upstream = createServer((request, response) => {
    request.on("data", (chunk: Buffer) => {
      receivedBytes += chunk.length;
    });
    request.on("end", () => answer(request.headers.accept === "text/event-stream", response));
  });
  await new Promise<void>((listening) => upstream.listen(0, "127.0.0.1", listening));
  const { port } = upstream.address() as AddressInfo;
  const baseUrl = `http://127.0.0.1:${port}/v1`;
  service = await startServiceProcess({
    config: `
builtin_models: false
models:
  - { id: m, task: chat, deployments: [{ engine: openai-compatible, base_url: "${baseUrl}" }] }
`,
  });
});
afterAll(async () => {
  await service.stop();
  upstream.closeAllConnections();
  upstream.close();
});

function answer(isStreamed: boolean, response: ServerResponse): void {
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  const content = { role: "assistant", content: "Hello." };
  const choice = { index: 0, finish_reason: "stop", [isStreamed ? "delta" : "message"]: content };
  const json = JSON.stringify({ id: "1", object: "chat.completion", created: 1, model: "m", choices: [choice], usage });
  response.setHeader("content-type", isStreamed ? "text/event-stream" : "application/json");
  response.end(isStreamed ? `data: ${json}\n\ndata: [DONE]\n\n` : json);
}

/** The longest delay of the service's event loop since the last call, as `monitorEventLoopDelay` recorded it. */
async function longestDelayMs(): Promise<number> {
  const text = await (await service.fetch("/metrics")).text();
  return 1000 * Number(/^nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(text)?.[1]);
}

const MEGABYTES = 19;
const user = (content: string) => `{"role":"user","content":"${content}"}`;
const messages = (count: number, text: string) => {
  const times = Math.floor((MEGABYTES * 1_000_000) / count / Buffer.byteLength(text)) - Math.ceil(40 / text.length);
  return `[${Array.from({ length: count }, () => user(text.repeat(times))).join(",")}]`;
};
const BODIES: Record<string, string> = {
  "a long text": messages(1, "a b "),
  "19 texts with an escape in every second character": messages(19, "a\\n"),
  "19 texts outside Latin-1": messages(19, "会議"),
  "30,000 messages": messages(30_000, "a b "),
};
const chat = (list: string) => `{"model":"m","messages":${list}}`;
const PATHS: Record<string, (list: string) => string> = {
  "/v1/chat/completions": chat,
  "/v1/responses": (list) => `{"model":"m","input":${list}}`,
  "/v1/messages": (list) => `{"model":"m","max_tokens":9,"messages":${list}}`,
};

for (const [path, toBody] of Object.entries(PATHS)) {
  test.each(Object.keys(BODIES))(`${path} answers %s without blocking the event loop`, async (name) => {
    const body = Buffer.from(toBody(BODIES[name] ?? ""));
    const delays: number[] = [];
    while (delays.length < ATTEMPTS && !delays.some((each) => each < MAX_BLOCKED_MS)) {
      await longestDelayMs();
      receivedBytes = 0;
      const response = await service.fetch(path, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body,
      });
      await response.arrayBuffer();
      expect(response.status).toBe(200);
      expect(receivedBytes).toBeGreaterThan(MEGABYTES * 900_000);
      delays.push(Math.round(await longestDelayMs()));
    }
    if (process.env.PARLANCE_PRINT_DELAYS) console.log(`${path}, ${name}: ${delays.join(", ")} ms`);
    expectBelow(Math.min(...delays), MAX_BLOCKED_MS);
  });
}

test.skipIf(process.platform !== "linux")("refuses 700,000 keys with little time of the event loop", async () => {
  const keys = Array.from({ length: 700_000 }, (_, index) => `"k${index}":1`);
  const body = Buffer.from(`{"model":"m","messages":[{"role":"user","content":"Hi"}],${keys.join()}}`);
  const taken: number[] = [];
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const before = mainThreadMs(service);
    const answer = await service.fetch("/v1/chat/completions", {
      method: "POST",
      body,
      headers: { "content-type": "application/json" },
    });
    expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining("more than 10000 keys")]);
    taken.push(mainThreadMs(service) - before);
  }
  expectBelow(Math.min(...taken), MAX_BLOCKED_MS / 2);
});
