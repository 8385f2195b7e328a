/** Requests that have ended leave nothing behind that only a full collection finds, also while code is not optimized yet. */

import { afterAll, beforeAll, expect, test } from "vitest";
import { type ServiceProcess, startServiceProcess } from "../support/service/service-process.ts";
import { type CountingUpstream, startCountingUpstream } from "../support/upstreams/counting-upstream.ts";

const CONCURRENCY = 32;
/** A process optimizes what requests run after some 15,000 of them. */
const REQUESTS = 3000;
/** Most of what a start loads stays. */
const WARM_UP = 600;
/** Rows of usage and history that wait to be written are 2 to 6 %; with the requests themselves, it was 11 to 17 %. */
const MAX_PROMOTED_SHARE = 0.09;

let upstream: CountingUpstream;
let service: ServiceProcess;
beforeAll(async () => {
  upstream = await startCountingUpstream();
  service = await startServiceProcess({
    config: `builtin_models: false
models: [{ id: remote, task: chat, deployments: [{ engine: openai-compatible, base_url: "${upstream.baseUrl}", model: m }] }]
`,
    environment: {
      NODE_OPTIONS: `--max-semi-space-size=4 --import ${new URL("../support/service/trace-collections.ts", import.meta.url).href}`,
    },
  });
});
afterAll(async () => {
  await service?.stop();
  await upstream?.close();
});

const MESSAGES = [{ role: "user", content: "Hello" }];

test.each([
  ["chat completions", "/v1/chat/completions", { messages: MESSAGES }],
  ["streams", "/v1/chat/completions", { messages: MESSAGES, stream: true }],
  ["messages", "/v1/messages", { messages: MESSAGES, max_tokens: 9 }],
  ["responses", "/v1/responses", { input: "Hello", store: false }],
  ["streamed responses", "/v1/responses", { input: "Hello", store: false, stream: true }],
])("%s die in the young generation", async (_name, path, body) => {
  await ask(WARM_UP, path, body);
  const before = collections(service).length;
  await ask(REQUESTS, path, body);
  const scavenges = collections(service).slice(before);
  expect(scavenges.length).toBeGreaterThan(10);
  const sum = (figure: "promoted" | "allocated") => scavenges.reduce((total, each) => total + each[figure], 0);
  expect(sum("promoted") / sum("allocated")).toBeLessThan(MAX_PROMOTED_SHARE);
});

async function ask(requests: number, path: string, body: object): Promise<void> {
  let sent = 0;
  const client = async () => {
    while (sent < requests) {
      sent += 1;
      const answer = await service.post(path, { model: "remote", ...body });
      expect(answer.status).toBe(200);
      await answer.text();
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, client));
}

/** Bytes of each scavenge so far, as V8 prints them. */
function collections({ output }: ServiceProcess): { promoted: number; allocated: number }[] {
  const figure = (line: string, name: string) => Number(new RegExp(` ${name}=(\\d+)`).exec(line)?.[1]);
  const lines = output().split("\n");
  return lines
    .filter((line) => line.includes(" gc=s "))
    .map((line) => ({ promoted: figure(line, "promoted"), allocated: figure(line, "allocated") }));
}
