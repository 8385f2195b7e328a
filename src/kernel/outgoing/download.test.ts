/** The guard with a real name server and real HTTP servers on loopback. */

import { Resolver } from "node:dns";
import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo, LookupFunction } from "node:net";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { aRecords, type DnsServer, startDnsServer } from "../../../test/support/upstreams/dns-server.ts";
import { DownloadFailed, download } from "./download.ts";
import { AddressRefused, OutgoingGuard, type Reach } from "./outgoing-guard.ts";

let dns: DnsServer;
let server: Server;
let port: number;
let answer: RequestListener;
let requests: string[];
const guards: OutgoingGuard[] = [];

beforeAll(async () => {
  dns = await startDnsServer();
  server = createServer((request, response) => {
    requests.push(request.url ?? "");
    answer(request, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  port = (server.address() as AddressInfo).port;
});
beforeEach(() => {
  requests = [];
  dns.records.clear();
  answer = (_request, response) => response.writeHead(200, { "content-type": "image/png; q=1" }).end("pixels");
});
afterEach(async () => {
  await Promise.all(guards.splice(0).map((guard) => guard.close()));
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await dns.close();
});

/** Looks names up at the name server of this test. */
const lookup: LookupFunction = (name, _options, callback) => {
  const resolver = new Resolver();
  resolver.setServers([dns.address]);
  resolver.resolve4(name, (error, addresses) => {
    const found = (addresses ?? []).map((address) => ({ address, family: 4 }));
    callback(error, found);
  });
};

function guardOf(reach: Reach): OutgoingGuard {
  const guard = new OutgoingGuard({ reach, lookup, connectTimeoutMs: 2000 });
  guards.push(guard);
  return guard;
}

const fetchFrom = (reach: Reach, url: string, maxBytes = 100) =>
  download(guardOf(reach), url, { maxBytes, signal: AbortSignal.timeout(10_000) });

describe("a guard for public addresses", () => {
  test.each([
    "http://127.0.0.1",
    "http://127.1",
    "http://2130706433",
    "http://0x7f.0.0.1",
    "http://0177.0.0.1",
    "http://127.0.0.1.",
    "http://①②⑦.⓪.⓪.①",
    "http://%31%32%37.0.0.1",
    "http://[::ffff:127.0.0.1]",
    "http://[::ffff:7f00:1]",
    "http://[::1]",
  ])("does not connect to %s", async (origin) => {
    await expect(fetchFrom("public", `${origin}:${port}/x`)).rejects.toBeInstanceOf(AddressRefused);
    await expect(guardOf("public").check(`${origin}:${port}/x`)).rejects.toBeInstanceOf(AddressRefused);
    expect(requests).toEqual([]);
  });

  test.each([
    "file:///etc/passwd",
    "/etc/passwd",
    "//127.0.0.1/x",
    "ftp://93.184.216.34/x",
    "http:93.184.216.34/x",
    "http:\\\\93.184.216.34/x",
    "http://93.184.216.34\\@127.0.0.1/x",
    "http://user:secret@93.184.216.34/x",
    "http://93.184.216.34 @127.0.0.1/x",
    "http://93.184.216.34/\r\nx",
    "http://",
    "",
  ])("refuses %j, which programs read differently", async (url) => {
    await expect(fetchFrom("public", url)).rejects.toBeInstanceOf(AddressRefused);
  });

  test("refuses a name that leads to this machine, also among public addresses", async () => {
    dns.records.set("inner.test", aRecords("inner.test", ["127.0.0.1"]));
    dns.records.set("mixed.test", aRecords("mixed.test", ["93.184.216.34", "127.0.0.1"]));
    for (const name of ["inner.test", "mixed.test"]) {
      await expect(fetchFrom("public", `http://${name}:${port}/x`)).rejects.toBeInstanceOf(AddressRefused);
    }
    expect(requests).toEqual([]);
  });

  test("checks the address of the connection, not the one that a check before it saw", async () => {
    dns.records.set("rebinding.test", aRecords("rebinding.test", ["93.184.216.34"], 0));
    const guard = guardOf("public");
    const url = `http://rebinding.test:${port}/x`;
    await guard.check(url);
    dns.records.set("rebinding.test", aRecords("rebinding.test", ["127.0.0.1"], 0));
    const options = { maxBytes: 100, signal: AbortSignal.timeout(10_000) };
    await expect(download(guard, url, options)).rejects.toBeInstanceOf(AddressRefused);
    expect(requests).toEqual([]);
  });

  test("says the same of a name that does not exist and of one that leads inside", async () => {
    dns.records.set("inner.test", aRecords("inner.test", ["10.0.0.1"]));
    const messageOf = (name: string) =>
      fetchFrom("public", `http://${name}/x`).catch((failure: Error) => failure.message.replace(name, "NAME"));
    expect(await messageOf("inner.test")).toBe(await messageOf("absent.test"));
  });
});

describe("a guard for private addresses", () => {
  const url = () => `http://127.0.0.1:${port}/x`;

  test("downloads with the media type", async () => {
    const { bytes, mediaType } = await fetchFrom("private", url());
    expect([bytes.toString(), mediaType]).toEqual(["pixels", "image/png"]);
  });

  test("does not connect to the metadata of clouds", async () => {
    dns.records.set("metadata.test", aRecords("metadata.test", ["169.254.169.254"]));
    for (const host of ["169.254.169.254", "2852039166", "[::ffff:169.254.169.254]", "metadata.test", "0.0.0.0"]) {
      await expect(fetchFrom("private", `http://${host}/latest`)).rejects.toBeInstanceOf(AddressRefused);
    }
  });

  test("follows redirects, and checks each one", async () => {
    answer = (request, response) => {
      const target = { "/x": "/y", "/y": "http://169.254.169.254/latest", "/file": "file:///etc/passwd" }[
        request.url ?? ""
      ];
      response.writeHead(302, { location: target }).end();
    };
    await expect(fetchFrom("private", url())).rejects.toBeInstanceOf(AddressRefused);
    expect(requests).toEqual(["/x", "/y"]);
    await expect(fetchFrom("private", `http://127.0.0.1:${port}/file`)).rejects.toBeInstanceOf(AddressRefused);
  });

  test("gives up after five redirects", async () => {
    answer = (_request, response) => response.writeHead(307, { location: "/x" }).end();
    await expect(fetchFrom("private", url())).rejects.toThrow("redirects more than 5 times");
    expect(requests).toHaveLength(6);
  });

  test.each([
    ["announced", { "content-length": "101" }],
    ["found", {}],
  ])("refuses a body above the limit, %s", async (_how, headers) => {
    answer = (_request, response) => response.writeHead(200, headers).end("x".repeat(101));
    await expect(fetchFrom("private", url())).rejects.toThrow("larger than 100 bytes");
  });

  test("says which status refused it", async () => {
    answer = (_request, response) => response.writeHead(403).end();
    await expect(fetchFrom("private", url())).rejects.toThrow("status 403");
  });

  test("ends with the signal", async () => {
    answer = () => {};
    const signal = AbortSignal.timeout(50);
    const downloading = download(guardOf("private"), url(), { maxBytes: 100, signal });
    await expect(downloading).rejects.toThrow("aborted due to timeout");
  });

  test("reports a connection that fails", async () => {
    await expect(fetchFrom("private", "http://127.0.0.1:1/x")).rejects.toBeInstanceOf(DownloadFailed);
  });
});

describe("names and connections that callers choose", () => {
  test("are not looked up by the threads that all of the process shares", async () => {
    const guard = new OutgoingGuard({ reach: "public" });
    guards.push(guard);
    const threads = () => process.getActiveResourcesInfo().filter((name) => name === "GetAddrInfoReqWrap").length;
    const before = threads();
    const checks = Array.from({ length: 8 }, (_, index) => guard.check(`https://name-${index}.invalid/`));
    const ended = Promise.allSettled(checks);
    expect(threads()).toBe(before);
    for (const { status } of await ended) expect(status).toBe("rejected");
  });

  test("do not stay open for as long as a server asks", async () => {
    const closed = Promise.withResolvers<void>();
    answer = ({ socket }, response) => {
      socket.once("close", () => closed.resolve());
      response.writeHead(200, { connection: "keep-alive", "keep-alive": "timeout=600" }).end("pixels");
    };
    server.keepAliveTimeout = 0;
    await fetchFrom("private", `http://127.0.0.1:${port}/x`);
    await closed.promise;
  });
});
