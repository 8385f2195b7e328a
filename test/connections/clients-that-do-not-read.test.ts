/** Clients that stay connected without reading the answer. */

import { connect } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Service, startService } from "../support/service/service.ts";
import { expectWithin } from "../support/timing.ts";

/** Answered in 300 events, which fill the buffers of the connection before the request's time is over, also on a busy machine. */
const QUESTION = `${" ".repeat(40_000)}word`.repeat(300);
const CONFIG = `
builtin_models: false
server: { request_timeout_seconds: 4, receive_timeout_seconds: 1 }
models:
  - id: long
    task: chat
    deployments: [{ engine: scripted, context_window: 10000000, echo: true }]
`;

let service: Service;
beforeAll(async () => {
  service = await startService({ config: CONFIG });
});
afterAll(() => service.stop());

function ask() {
  const body = JSON.stringify({ model: "long", stream: true, messages: [{ role: "user", content: QUESTION }] });
  const socket = connect(Number(new URL(service.origin).port), "127.0.0.1");
  socket.pause().on("error", () => {});
  const head = [
    "POST /v1/chat/completions HTTP/1.1",
    "host: parlance",
    `authorization: Bearer ${service.apiKey}`,
    "content-type: application/json",
    `content-length: ${Buffer.byteLength(body)}`,
  ];
  socket.write(`${head.join("\r\n")}\r\n\r\n${body}`);
  return socket;
}

test("disconnects a client that does not read its answer", async () => {
  const socket = ask();
  const logged = () => service.log().find(({ msg }) => msg === "request");
  await expect.poll(logged, { interval: 200 }).toMatchObject({ status: 499, outcome: "failed" });
  socket.destroy();
});

test("disconnects a client that still reads slowly after twice its deadline", async () => {
  const socket = ask();
  let read = 0;
  const trickle = setInterval(() => {
    read += (socket.read(100) as Buffer | null)?.length ?? 0;
  }, 50);
  const closed = new Promise((resolve) => socket.once("close", resolve));
  const startedAt = performance.now();
  const lines = () => service.log().filter(({ msg }) => msg === "request");
  await expect.poll(() => lines().length, { interval: 200 }).toBe(2);
  expectWithin(startedAt, 15_000);
  clearInterval(trickle);
  expect(read).toBeGreaterThan(1000);
  socket.destroy();
  await closed;
});
