/** Large answers of an upstream's embeddings leave the event loop free: they are parsed and converted in a thread. */

import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Service, startService } from "../support/service/service.ts";
import { CHECKS_DURATIONS, expectBelow } from "../support/timing.ts";

const INPUTS = 2048;
const DIMENSIONS = 1536;
const MAX_BLOCKED_MS = 250;
/** The smallest of several maxima: other processes of a busy machine only add to a delay. */
const ATTEMPTS = CHECKS_DURATIONS ? 4 : 1;

let upstream: Server;
let service: Service;
beforeAll(async () => {
  const vector = Array.from({ length: DIMENSIONS }, (_, column) => Math.sin(column + 1));
  const floats = JSON.stringify(vector);
  const encoded = JSON.stringify(Buffer.from(Float32Array.from(vector).buffer).toString("base64"));
  upstream = createServer(async (request, response) => {
    const { input, encoding_format: encoding } = (await json(request)) as { input: string[]; encoding_format?: string };
    const embedding = encoding === "base64" ? encoded : floats;
    const data = input.map((_, index) => `{"object":"embedding","index":${index},"embedding":${embedding}}`);
    response.end(
      input[0] === "broken" ? `{"data":[${data.slice(1)}]}` : `{"data":[${data}],"usage":{"prompt_tokens":7}}`,
    );
  });
  await new Promise<void>((listening) => upstream.listen(0, "127.0.0.1", listening));
  const { port } = upstream.address() as AddressInfo;
  service = await startService({
    config: `
builtin_models: false
models:
  - { id: m, task: embedding, deployments: [{ engine: openai-compatible, base_url: "http://127.0.0.1:${port}/v1" }] }
`,
  });
});
afterAll(async () => {
  await service.stop();
  upstream.closeAllConnections();
  upstream.close();
});

/** The longest delay of the service's event loop since the last call. */
async function longestDelayMs(): Promise<number> {
  const text = await (await service.fetch("/metrics")).text();
  return 1000 * Number(/^nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(text)?.[1]);
}

test.each(["float", "base64"])("answers 2,048 vectors as %s without blocking the event loop", async (encoding) => {
  const delays: number[] = [];
  while (delays.length < ATTEMPTS && !delays.some((each) => each < MAX_BLOCKED_MS)) {
    await longestDelayMs();
    const input = Array.from({ length: INPUTS }, (_, index) => `text ${index}`);
    const response = await service.post("/v1/embeddings", { model: "m", input, encoding_format: encoding });
    const bytes = (await response.arrayBuffer()).byteLength;
    expect(response.status).toBe(200);
    expect(bytes).toBeGreaterThan(INPUTS * DIMENSIONS * 4);
    delays.push(Math.round(await longestDelayMs()));
  }
  if (process.env.PARLANCE_PRINT_DELAYS) console.log(`${encoding}: ${delays.join(", ")} ms`);
  expectBelow(Math.min(...delays), MAX_BLOCKED_MS);
});

test("names the upstream's fault in a large answer", async () => {
  const input = ["broken", ...Array.from({ length: 500 }, () => "text")];
  const response = await service.post("/v1/embeddings", { model: "m", input });
  expect(response.status).toBe(502);
  expect(await response.text()).toContain("500 embeddings for 501 inputs");
});
