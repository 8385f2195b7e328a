import { InMemoryTransport, type JSONRPCMessage } from "@modelcontextprotocol/client";
import { expect, test } from "vitest";
import { boundNotifications } from "./watch-transport.ts";

test("ends a connection with too many notifications between two answers", async () => {
  const [near, far] = InMemoryTransport.createLinkedPair();
  const received: JSONRPCMessage[] = [];
  const failures: Error[] = [];
  near.onmessage = (message) => void received.push(message);
  boundNotifications(near, (failure) => failures.push(failure), 3);
  await near.start();
  await far.start();
  const notify = () => far.send({ jsonrpc: "2.0", method: "notifications/progress", params: {} });
  for (let count = 0; count < 3; count += 1) await notify();
  await far.send({ jsonrpc: "2.0", id: 1, result: {} });
  for (let count = 0; count < 3; count += 1) await notify();
  expect(failures).toEqual([]);
  expect(received).toHaveLength(7);
  await notify();
  await notify();
  expect(failures).toHaveLength(1);
  expect(failures[0]?.message).toContain("3 notifications");
  expect(received).toHaveLength(7);
});
