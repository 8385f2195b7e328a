import { describe, expect, test } from "vitest";
import { parseRedisUrl } from "./redis-address.ts";

describe("parseRedisUrl", () => {
  test("reads one server with its database and account", () => {
    const address = parseRedisUrl("redis://parlance:p%40ss:word@cache.example.com:7000/3");
    expect(address).toMatchObject({
      kind: "server",
      nodes: [{ host: "cache.example.com", port: 7000 }],
      database: 3,
      tls: undefined,
    });
    expect(address.account.username).toBe("parlance");
    expect(address.account.password?.reveal()).toBe("p@ss:word");
    expect(JSON.stringify(address)).not.toContain("p@ss");
  });

  test("needs only a host", () => {
    expect(parseRedisUrl("redis://cache")).toMatchObject({
      nodes: [{ host: "cache", port: 6379 }],
      database: 0,
      account: { username: undefined, password: undefined },
    });
  });

  test("reads the Sentinels of a primary and their own account", () => {
    const address = parseRedisUrl("redis-sentinel://:data@s1,s2:26400,[::1]:26401/2?sentinel_password=watch#main");
    expect(address).toMatchObject({
      kind: "sentinel",
      nodes: [
        { host: "s1", port: 26_379 },
        { host: "s2", port: 26_400 },
        { host: "::1", port: 26_401 },
      ],
      database: 2,
      primary: "main",
    });
    expect(address.account.password?.reveal()).toBe("data");
    expect(address.sentinelAccount.password?.reveal()).toBe("watch");
  });

  test("reads the nodes of a cluster over TLS", () => {
    const address = parseRedisUrl(
      "rediss-cluster://a:1,b:2?ssl_ca_certs=/ca.pem&ssl_certfile=/c.pem&ssl_keyfile=/k.pem",
    );
    expect(address).toMatchObject({
      kind: "cluster",
      nodes: [
        { host: "a", port: 1 },
        { host: "b", port: 2 },
      ],
      tls: { ca: "/ca.pem", cert: "/c.pem", key: "/k.pem" },
    });
  });

  test.each([
    ["hunter2", "must be redis://"],
    ["http://cache", "must be redis://"],
    ["redis://", "must be redis://"],
    ["redis://cache/1/2", "must be redis://"],
    ["redis://a,b", "several hosts"],
    ["redis://cache:99999", "host that is not a name"],
    ["redis-sentinel://s1,s2", "primary's name after #"],
    ["redis://cache#main", "nothing after # otherwise"],
    ["redis-cluster://a/1", "only database 0"],
    ["redis://:hunter%2@cache", "not percent-encoded"],
    ["redis://cache?ssl_ca_certs=/ca.pem", "does not apply"],
    ["rediss://cache?tls=hunter2", "does not apply"],
  ])("rejects %s", (url, message) => {
    const parse = () => parseRedisUrl(url);
    expect(parse).toThrow(message);
    expect(parse).not.toThrow("hunter");
  });
});
