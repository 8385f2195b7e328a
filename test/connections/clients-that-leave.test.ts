/** Clients that disconnect or read slowly do not affect other requests. */

import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/service/eventually.ts";
import { type Service, startService } from "../support/service/service.ts";

const LONG = "word ".repeat(2000);
const CONFIG = `
builtin_models: false
models:
  - id: slow-start
    task: chat
    deployments: [{ engine: scripted, slots: 1, replies: [{ text: "Late.", delay_ms_before_first: 60000 }] }]
  - id: slow
    task: chat
    deployments: [{ engine: scripted, slots: 1, context_window: 100000, replies: [{ text: "${LONG}", delay_ms_per_token: 20 }] }]
  - id: quick
    task: chat
    deployments: [{ engine: scripted, slots: 1, context_window: 1000000, echo: true }]
`;

let service: Service;
beforeAll(async () => {
  service = await startService({ config: CONFIG });
});
afterAll(() => service.stop());

const messages = [{ role: "user", content: "Go." }];

function leftLines(model: string) {
  return service.log().filter((line) => line.model === model && line.status === 499);
}

async function metric(name: string, model: string): Promise<number> {
  const text = await (await fetch(`${service.origin}/metrics`)).text();
  const line = text.split("\n").find((each) => each.startsWith(`${name}{`) && each.includes(`model="${model}"`));
  return Number(line?.split(" ").at(-1) ?? 0);
}

const slotsInUse = (model: string) => metric("parlance_slots_in_use", model);

test.each([true, false])(
  "frees the slot and logs a client that disconnects before the first token (stream: %s)",
  async (stream) => {
    const leaving = new AbortController();
    const body = { model: "slow-start", messages, stream };
    const answer = service
      .post("/v1/chat/completions", body, { signal: leaving.signal })
      .catch((error: Error) => error.name);
    await eventually(async () => expect(await slotsInUse("slow-start")).toBe(1));
    leaving.abort();
    expect(await answer).toBe("AbortError");
    await eventually(async () => expect(await slotsInUse("slow-start")).toBe(0));
    await eventually(() => expect(leftLines("slow-start")).toHaveLength(stream ? 1 : 2));
  },
);

test("frees the slot and counts the generated tokens when a client disconnects mid-stream", async () => {
  const before = await metric("parlance_tokens_total", "slow");
  const leaving = new AbortController();
  const body = { model: "slow", messages, stream: true };
  const response = await service.post("/v1/chat/completions", body, { signal: leaving.signal });
  const reader = response.body?.getReader();
  for (let frames = 0; frames < 5; frames += 1) await reader?.read();
  leaving.abort();
  await eventually(async () => expect(await slotsInUse("slow")).toBe(0));
  await eventually(async () => expect(await metric("parlance_tokens_total", "slow")).toBeGreaterThan(before));
  await eventually(() =>
    expect(service.log()).toContainEqual(
      expect.objectContaining({ model: "slow", status: 499, outcome: "client-left" }),
    ),
  );
});

test("frees the slot when a client disconnects before its JSON answer", async () => {
  const leaving = new AbortController();
  const answer = service
    .post("/v1/chat/completions", { model: "slow", messages }, { signal: leaving.signal })
    .catch(() => "left");
  await eventually(async () => expect(await slotsInUse("slow")).toBe(1));
  leaving.abort();
  await answer;
  await eventually(async () => expect(await slotsInUse("slow")).toBe(0));
});

test("removes a disconnected request from the queue", async () => {
  const first = new AbortController();
  const second = new AbortController();
  const post = (signal: AbortSignal) =>
    service.post("/v1/chat/completions", { model: "slow-start", messages }, { signal }).catch(() => "left");
  const running = post(first.signal);
  await eventually(async () => expect(await slotsInUse("slow-start")).toBe(1));
  const waiting = post(second.signal);
  await eventually(async () => expect(await metric("parlance_queue_length", "slow-start")).toBe(1));
  second.abort();
  await waiting;
  await eventually(async () => expect(await metric("parlance_queue_length", "slow-start")).toBe(0));
  first.abort();
  await running;
  await eventually(async () => expect(await slotsInUse("slow-start")).toBe(0));
});

test("leaks nothing when many clients disconnect just before the end", async () => {
  for (let round = 0; round < 100; round += 1) {
    const leaving = new AbortController();
    const body = { model: "quick", messages, stream: true, max_tokens: 40 };
    const answer = service.post("/v1/chat/completions", body, { signal: leaving.signal });
    await answer.then((response) => response.body?.getReader().read()).catch(() => {});
    leaving.abort();
  }
  await eventually(async () => expect(await slotsInUse("quick")).toBe(0));
  const response = await service.post("/v1/chat/completions", { model: "quick", messages, max_tokens: 2 });
  expect(response.status).toBe(200);
});

test("frees the slot while a slow client reads", async () => {
  // Far more than the kernel's buffers hold: some 20 MB of frames.
  const slowReader = await streamUnread("quick", "word ".repeat(80_000));
  await eventually(async () => expect(await slotsInUse("quick")).toBe(0));
  const response = await service.post("/v1/chat/completions", { model: "quick", messages, max_tokens: 2 });
  expect(response.status).toBe(200);
  slowReader.destroy();
});

async function streamUnread(model: string, content: string): Promise<Socket> {
  const body = JSON.stringify({ model, messages: [{ role: "user", content }], stream: true });
  const { hostname, port } = new URL(service.origin);
  const socket = connect(Number(port), hostname);
  await once(socket, "connect");
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${service.apiKey}\r\n` +
      `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
  await once(socket, "readable");
  return socket;
}
