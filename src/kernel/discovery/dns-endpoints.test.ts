import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { aRecords, type DnsServer, startDnsServer } from "../../../test/support/upstreams/dns-server.ts";
import { dnsEndpoints } from "./dns-endpoints.ts";
import { type Discovered, formatAddress } from "./endpoint.ts";

let server: DnsServer;
beforeAll(async () => {
  server = await startDnsServer();
});
beforeEach(() => {
  server.records.clear();
  server.failure = undefined;
});
afterAll(() => server.close());

const NAME = "vllm.test";

function lookUp(recordType: "A" | "SRV" = "A"): Promise<Discovered> {
  const nameservers = [server.address];
  return dnsEndpoints({ kind: "dns", name: NAME, recordType, nameservers, refreshSeconds: 30, defaultPort: 8000 })();
}

const srv = (target: string, port: number, weight = 0, priority = 0) =>
  ({ type: "SRV", name: NAME, ttl: 9, data: { target, port, weight, priority } }) as const;

test("finds an endpoint for each A record and the shortest TTL", async () => {
  server.records.set(NAME, [...aRecords(NAME, ["10.0.0.1"], 30), ...aRecords(NAME, ["10.0.0.2"], 5)]);
  const { endpoints, ttlSeconds } = await lookUp();
  expect(endpoints.map(formatAddress).sort()).toEqual(["10.0.0.1:8000", "10.0.0.2:8000"]);
  expect(ttlSeconds).toBe(5);
});

test("finds a changed record at once", async () => {
  server.records.set(NAME, aRecords(NAME, ["10.0.0.1"], 3600));
  await lookUp();
  server.records.set(NAME, aRecords(NAME, ["10.0.0.2"], 3600));
  expect((await lookUp()).endpoints.map(formatAddress)).toEqual(["10.0.0.2:8000"]);
});

test("uses AAAA records only where there are no A records", async () => {
  const v6 = { type: "AAAA", name: NAME, ttl: 7, data: "fd00::5" } as const;
  server.records.set(NAME, [v6]);
  expect((await lookUp()).endpoints.map(formatAddress)).toEqual(["[fd00::5]:8000"]);
  server.records.set(NAME, [v6, ...aRecords(NAME, ["10.0.0.1"])]);
  expect((await lookUp()).endpoints.map(formatAddress)).toEqual(["10.0.0.1:8000"]);
});

test("takes ports, weights and backups from SRV records", async () => {
  server.records.set(NAME, [srv("a.test", 8001, 10), srv("b.test", 8002, 30), srv("c.test", 8003, 5, 1)]);
  server.records.set("a.test", aRecords("a.test", ["10.0.0.1"], 4));
  server.records.set("b.test", aRecords("b.test", ["10.0.0.2"], 6));
  server.records.set("c.test", aRecords("c.test", ["10.0.0.3"], 8));
  const { endpoints, ttlSeconds } = await lookUp("SRV");
  const byPort = endpoints.toSorted((a, b) => a.port - b.port);
  expect(byPort.map((each) => [formatAddress(each), each.weight, each.isBackup])).toEqual([
    ["10.0.0.1:8001", 0.5, false],
    ["10.0.0.2:8002", 1.5, false],
    ["10.0.0.3:8003", 0.25, true],
  ]);
  expect(ttlSeconds).toBe(4);
});

test("skips an SRV target that does not exist", async () => {
  server.records.set(NAME, [srv("a.test", 8001), srv("gone.test", 8002)]);
  server.records.set("a.test", aRecords("a.test", ["10.0.0.1"]));
  expect((await lookUp("SRV")).endpoints.map(formatAddress)).toEqual(["10.0.0.1:8001"]);
});

test.each(["A", "SRV"] as const)("finds no endpoints of a name without %s records", async (recordType) => {
  const reason = `${NAME} has no ${recordType} records; it must be fully qualified`;
  expect(await lookUp(recordType)).toMatchObject({ endpoints: [], reason });
  server.records.set(NAME, [{ type: "TXT", name: NAME, data: "x" }]);
  expect(await lookUp(recordType)).toMatchObject({ endpoints: [], reason });
});

test.each([
  ["SERVFAIL", "ESERVFAIL"],
  ["REFUSED", "EREFUSED"],
  ["silent", "ETIMEOUT"],
] as const)("fails when the name server answers %s", async (failure, code) => {
  server.failure = failure;
  await expect(lookUp()).rejects.toThrow(`the A records of ${NAME} could not be looked up (${code})`);
});
