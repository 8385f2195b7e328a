import { expect, test } from "vitest";
import { AddressCounts } from "../http/connections.ts";
import { WorkerConnections } from "./worker-connections.ts";

test("closes what a worker had open when it ends, and no more", () => {
  const counts = new AddressCounts(2);
  const [ended, other] = [new WorkerConnections(counts), new WorkerConnections(counts)];
  expect([ended.open("::1"), other.open("::1"), ended.open("::1")]).toEqual([true, true, false]);
  ended.release();
  expect([other.open("::1"), other.open("::1")]).toEqual([true, false]);
});

test("forgets addresses without a connection", () => {
  const connections = new WorkerConnections(new AddressCounts(2));
  for (let host = 1; host <= 1000; host += 1) {
    const address = `2001:db8::${host.toString(16)}`;
    connections.open(address);
    connections.open(address);
    connections.close(address);
    connections.close(address);
  }
  connections.open("::1");
  expect(connections.addresses).toBe(1);
});
