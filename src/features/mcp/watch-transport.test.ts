import { InMemoryTransport, type JSONRPCMessage } from "@modelcontextprotocol/client";
import { expect, test } from "vitest";
import { boundMessages } from "./message-bounds.ts";
import { deliverInOrder, redactMessages } from "./watch-transport.ts";

async function connect(onExceeded: () => void) {
  const [near, far] = InMemoryTransport.createLinkedPair();
  const received: JSONRPCMessage[] = [];
  const reported: Error[] = [];
  redactMessages(near, (text) => text.replaceAll("secret", "…"));
  const redacted = near.onmessage;
  boundMessages(near, { onExceeded });
  const bounded = near.onmessage;
  near.onmessage = (message, extra) => {
    bounded?.(message, extra);
    redacted?.(message, extra);
    received.push(message);
  };
  near.onerror = (failure) => reported.push(failure);
  deliverInOrder(near);
  await Promise.all([near.start(), far.start()]);
  const deliver = (message: object) => {
    try {
      near.onmessage?.({ jsonrpc: "2.0", ...message } as JSONRPCMessage);
    } catch {
      // The transport of the library reports it.
    }
  };
  return { deliver, received, reported };
}

test("reports what the handling of an answer throws, which would end the process", async () => {
  let isExceeded = false;
  const { deliver, received, reported } = await connect(() => {
    isExceeded = true;
  });
  // One body of the server: an answer, then more requests than it may have at once.
  deliver({ id: 1, result: {} });
  for (let id = 2; id <= 10; id += 1) deliver({ id, method: "elicitation/create", params: {} });
  await new Promise((resolve) => setImmediate(resolve));
  expect(isExceeded).toBe(true);
  expect(received).not.toContainEqual(expect.objectContaining({ result: {} }));
  expect(reported).toMatchObject([{ message: expect.stringContaining("8 requests") }]);
});

test("redacts a message of any depth", async () => {
  const { deliver, received, reported } = await connect(() => {});
  const depth = 100_000;
  const nested = JSON.parse(`${'{"a":'.repeat(depth)}"a secret"${"}".repeat(depth)}`);
  deliver({ id: 1, result: nested });
  await new Promise((resolve) => setImmediate(resolve));
  expect(reported).toEqual([]);
  let inner: unknown = (received[0] as { result: object }).result;
  while (typeof inner === "object") inner = (inner as { a: unknown }).a;
  expect(inner).toBe("a …");
});
