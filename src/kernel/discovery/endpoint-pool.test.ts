import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createLogger } from "../logger.ts";
import type { Discovered, Endpoint } from "./endpoint.ts";
import { EndpointPool } from "./endpoint-pool.ts";

const SOURCE = {
  kind: "dns",
  name: "vllm.test",
  recordType: "A",
  nameservers: [],
  refreshSeconds: 30,
  defaultPort: 8000,
} as const;

let logged: string[];
let lookups: number;
let changes: number;
let found: () => Discovered;
let pool: EndpointPool;

beforeEach(() => {
  vi.useFakeTimers();
  logged = [];
  lookups = 0;
  changes = 0;
});
afterEach(() => {
  pool.close();
  vi.useRealTimers();
});

const at = (...hosts: string[]): Endpoint[] => hosts.map((host) => ({ host, port: 8000, weight: 1, isBackup: false }));

async function start(first: () => Discovered): Promise<void> {
  found = first;
  pool = new EndpointPool({
    source: SOURCE,
    logger: createLogger("info", { write: (line: string) => logged.push(line) }),
    onChange: () => {
      changes += 1;
    },
    discover: async () => {
      lookups += 1;
      return found();
    },
  });
  await pool.started;
}

const hosts = () => pool.endpoints.map(({ host }) => host);
const after = (seconds: number) => vi.advanceTimersByTimeAsync(seconds * 1000);
const fail = (message: string) => () => {
  throw new Error(message);
};

test("looks endpoints up again after the TTL, or after the interval if that is shorter", async () => {
  await start(() => ({ endpoints: at("b", "a"), ttlSeconds: 5 }));
  await after(4.9);
  expect(lookups).toBe(1);
  found = () => ({ endpoints: at("a", "c"), ttlSeconds: 3600 });
  await after(0.2);
  expect([lookups, hosts()]).toEqual([2, ["a", "c"]]);
  await after(29);
  expect(lookups).toBe(2);
  await after(1);
  expect(lookups).toBe(3);
});

test("looks endpoints with a TTL of 0 up every second", async () => {
  await start(() => ({ endpoints: at("a"), ttlSeconds: 0 }));
  await after(3);
  expect(lookups).toBe(4);
});

test("reports a change once, and none for another order", async () => {
  await start(() => ({ endpoints: at("a", "b") }));
  found = () => ({ endpoints: at("b", "a") });
  await after(30);
  expect([lookups, changes]).toEqual([2, 1]);
  expect(logged.filter((line) => line.includes("changed"))).toHaveLength(1);
});

test("keeps the last endpoints while lookups fail, and logs each reason once", async () => {
  await start(() => ({ endpoints: at("a") }));
  found = fail("ESERVFAIL");
  await after(30 + 5 + 5);
  expect(lookups).toBe(4);
  expect(hosts()).toEqual(["a"]);
  expect(pool.state).toEqual({ state: "stale", reason: "ESERVFAIL" });
  expect(logged.filter((line) => line.includes("ESERVFAIL"))).toHaveLength(1);
  found = () => ({ endpoints: at("a") });
  await after(5);
  expect(pool.state).toEqual({ state: "up", reason: undefined });
  expect(changes).toBe(1);
});

test("is empty while the source has no endpoints", async () => {
  await start(() => ({ endpoints: [], reason: "no records" }));
  expect(pool.state).toEqual({ state: "empty", reason: "no records" });
  found = () => ({ endpoints: at("a") });
  await after(30);
  expect(pool.state.state).toBe("up");
  found = () => ({ endpoints: [], reason: "no records" });
  await after(30);
  expect([hosts(), pool.state.reason, changes]).toEqual([[], "no records", 2]);
});

test("keeps the last endpoints when a source suddenly lists more than 1000", async () => {
  await start(() => ({ endpoints: at("a") }));
  found = () => ({ endpoints: at(...Array.from({ length: 1001 }, (_each, index) => `h${index}`)) });
  await after(30);
  expect([hosts(), pool.state.state]).toEqual([["a"], "stale"]);
});

test("stops when closed", async () => {
  await start(() => ({ endpoints: at("a") }));
  pool.close();
  await after(300);
  expect(lookups).toBe(1);
});
