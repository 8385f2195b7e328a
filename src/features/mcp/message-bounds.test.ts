import { InMemoryTransport, type JSONRPCMessage } from "@modelcontextprotocol/client";
import { beforeEach, expect, test } from "vitest";
import { boundMessages } from "./message-bounds.ts";

const LIMITS = {
  concurrentRequests: 2,
  requests: { burst: 4, perSecond: 1 },
  notificationsInARow: 3,
  notifications: { burst: 8, perSecond: 1 },
};
let far: InMemoryTransport;
let near: InMemoryTransport;
let received: JSONRPCMessage[];
let failures: string[];
let nowMs: number;

beforeEach(async () => {
  [near, far] = InMemoryTransport.createLinkedPair();
  [received, failures, nowMs] = [[], [], 0];
  boundMessages(near, { onExceeded: ({ message }) => failures.push(message), limits: LIMITS, now: () => nowMs });
  // As the protocol of the SDK does.
  const before = near.onmessage;
  near.onmessage = (message, extra) => {
    before?.(message, extra);
    received.push(message);
  };
  await near.start();
  await far.start();
});

const send = (message: object) => far.send({ jsonrpc: "2.0", ...message } as JSONRPCMessage).catch(() => {});
const notify = () => send({ method: "notifications/progress", params: {} });
const ask = (id: number) => send({ id, method: "elicitation/create", params: {} });
const reply = (id: number) => near.send({ jsonrpc: "2.0", id, result: {} });

test("ends a connection with too many notifications between two answers", async () => {
  for (let count = 0; count < 3; count += 1) await notify();
  await send({ id: 1, result: {} });
  for (let count = 0; count < 3; count += 1) await notify();
  expect(failures).toEqual([]);
  expect(received).toHaveLength(7);
  await notify();
  await notify();
  expect(failures).toEqual([expect.stringContaining("more than 3 notifications without an answer")]);
  expect(received).toHaveLength(7);
});

test("ends a connection with too many requests at once, and sends nothing more", async () => {
  await ask(1);
  await reply(1);
  await ask(2);
  await ask(3);
  await send({ method: "notifications/cancelled", params: { requestId: 3 } });
  await ask(4);
  expect(failures).toEqual([]);
  await ask(5);
  expect(failures).toEqual([expect.stringContaining("more than 2 requests without waiting")]);
  expect(received).not.toContainEqual(expect.objectContaining({ id: 5 }));
  await expect(reply(2)).rejects.toThrow("2 requests");
});

test("bounds the rate of requests and of notifications", async () => {
  for (const id of [1, 2, 3, 4]) {
    await ask(id);
    await reply(id);
  }
  nowMs += 1000;
  await ask(5);
  await reply(5);
  for (let count = 0; count < 8; count += 1) {
    await notify();
    await send({ id: 1, result: {} });
  }
  expect(failures).toEqual([]);
  await ask(6);
  expect(failures).toEqual([expect.stringContaining("more requests than 4 at once and 1 a second")]);
});

test("bounds the rate of notifications between answers, too", async () => {
  for (let count = 0; count < 9; count += 1) {
    await notify();
    await send({ id: 1, result: {} });
  }
  expect(failures).toEqual([expect.stringContaining("more notifications than 8 at once and 1 a second")]);
});

test("leaves out what exceeds the limits of a shared connection, and ends it at ten times as much", async () => {
  [near, far] = InMemoryTransport.createLinkedPair();
  const answers: JSONRPCMessage[] = [];
  far.onmessage = (message) => answers.push(message);
  const options = { onExceeded: ({ message }: Error) => failures.push(message), limits: LIMITS, now: () => nowMs };
  boundMessages(near, { ...options, isShared: true });
  const before = near.onmessage;
  near.onmessage = (message, extra) => {
    before?.(message, extra);
    received.push(message);
  };
  for (const id of [1, 2, 3]) await ask(id);
  expect(received).toHaveLength(2);
  expect(answers).toEqual([expect.objectContaining({ id: 3, error: expect.objectContaining({ code: -32000 }) })]);
  for (let count = 0; count < 30; count += 1) await notify();
  expect(received).toHaveLength(5);
  await send({ id: 1, result: {} });
  expect(received).toHaveLength(6);
  expect(failures).toEqual([]);
  for (let count = 0; count < 31; count += 1) await notify();
  expect(failures).toEqual([expect.stringContaining("more than 30 notifications without an answer")]);
});
