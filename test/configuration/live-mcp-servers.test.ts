/** MCP servers that administrators add, change and remove while the service runs. */

import { readdir, readFile } from "node:fs/promises";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { McpServer } from "@modelcontextprotocol/server";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sharedPostgres } from "../support/databases/postgres.ts";
import { startMcpServer, type TestMcpServer } from "../support/mcp/mcp-server.ts";
import { type ConfigurationClient, configurationClient } from "../support/service/configuration-client.ts";
import { eventually } from "../support/service/eventually.ts";
import { type ServiceProcess, startServiceProcess } from "../support/service/service-process.ts";

const STDIO_SERVER = new URL("../support/mcp/stdio-server.ts", import.meta.url).pathname;
const SECRET = "operator-secret-1234567890";

async function clientOf({ origin, apiKey }: ServiceProcess): Promise<Client> {
  const client = new Client(
    { name: "test", version: "1.0.0" },
    { versionNegotiation: { mode: { pin: "2026-07-28" } } },
  );
  const requestInit = { headers: { authorization: `Bearer ${apiKey}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL("/mcp", origin), { requestInit }));
  return client;
}

async function call(service: ServiceProcess, name: string): Promise<unknown> {
  const { content } = await (await clientOf(service)).callTool({ name, arguments: {} });
  return (content as { text: string }[])[0]?.text;
}

const toolsOf = async (service: ServiceProcess) =>
  (await (await clientOf(service)).listTools()).tools.map(({ name }) => name);

describe("over HTTP, with two replicas", () => {
  let first: Upstream;
  let second: Upstream;
  let service: ServiceProcess;
  let other: ServiceProcess;
  let configure: ConfigurationClient;

  beforeAll(async () => {
    [first, second] = await Promise.all([startUpstream("first"), startUpstream("second")]);
    const environment = {
      DATABASE_URL: (await (await sharedPostgres()).createDatabase()).reveal(),
      PARLANCE_ENCRYPTION_KEY: "e".repeat(32),
    };
    const config = `builtin_models: false\nmcp_servers: [{ name: filed, url: "${second.server.url}" }]\n`;
    service = await startServiceProcess({ config, environment });
    other = await startServiceProcess({ config: "builtin_models: false\n", environment });
    configure = configurationClient(service);
  });
  afterAll(async () => {
    await service?.stop();
    await other?.stop();
    await first?.server.close();
    await second?.server.close();
  });

  const wiki = (more: object = {}) => ({
    name: "wiki",
    url: first.server.url,
    headers: { "x-token": SECRET },
    ...more,
  });

  test("has nothing behind /mcp on a replica without servers", async () => {
    const answer = await other.post("/mcp", { jsonrpc: "2.0", id: 1, method: "tools/list" });
    expect(answer.status).toBe(404);
    expect((await other.fetch("/.well-known/oauth-protected-resource/mcp")).status).toBe(404);
  });

  test("tests a server before it is saved, and stores nothing", async () => {
    const { status, body } = await configure("POST", "/mcp_servers/test", wiki());
    expect(status).toBe(200);
    expect(body).toMatchObject({
      ok: true,
      protocol_version: "2026-07-28",
      software: { name: "first" },
      tools: [{ name: "who" }, { name: "wait", description: "Waits" }],
    });
    expect(first.server.requests.at(-1)?.headers["x-token"]).toBe(SECRET);
    const down = await configure("POST", "/mcp_servers/test", { name: "down", url: "http://127.0.0.1:9/mcp" });
    expect(down.body).toMatchObject({ ok: false, problem: "The server could not be reached." });
    expect((await configure("GET", "/mcp_servers/wiki")).status).toBe(404);
    expect((await configure("GET", "/configuration/versions")).body.data).toEqual([]);
  });

  test("offers a server on every replica, and never shows its headers", async () => {
    const created = await configure("POST", "/mcp_servers?reason=Docs", wiki());
    expect(created).toMatchObject({ status: 200, body: { kind: "mcp_server", source: "api", status: "in_force" } });
    expect(await call(service, "wiki__who")).toBe("first");
    await eventually(async () => expect(await call(other, "wiki__who")).toBe("first"));
    expect(first.server.requests.at(-1)?.headers["x-token"]).toBe(SECRET);
    for (const path of ["/mcp_servers/wiki", "/mcp_servers", "/configuration/entries", "/configuration/versions/1"]) {
      const { status, body } = await configure("GET", path);
      expect(status).toBe(200);
      expect(JSON.stringify(body)).not.toContain(SECRET);
    }
    expect(service.output()).not.toContain(SECRET);
    expect((await configure("GET", "/configuration/entries?kind=mcp_server")).body.data).toMatchObject([
      { name: "filed", source: "file" },
      { name: "wiki", source: "api", value: { headers: { "x-token": "[redacted]" } } },
    ]);
  });

  test.each([
    ["a program", { name: "sly", command: ["/bin/sh"] }, "command: runs a program and is set in parlance.yaml only"],
    ["a file of this machine", { name: "sly", openapi: "/etc/passwd" }, "openapi: names a file, which"],
    ["a file that looks like an address", { name: "sly", openapi: "http:../secret" }, "openapi: names a file, which"],
    ["a document of cloud metadata", { name: "sly", openapi: "http://169.254.169.254/a" }, "openapi: is a link-local"],
    [
      "accounts at an address of a document",
      { name: "sly", openapi: "http://a/b", oauth: {} },
      "needs `url` with `oauth`",
    ],
    ["a variable", { name: "sly", url: "http://a/", headers: { x: "$" + "{PATH}" } }, "environment variable"],
    ["cloud metadata", { name: "sly", url: "http://169.254.169.254/mcp" }, "url: is a link-local"],
    [
      "cloud metadata as the issuer",
      { name: "sly", url: "http://a/", oauth: { issuer: "http://[fe80::1]/" } },
      "oauth.issuer: is a link-local",
    ],
    ["another server's name", { name: "WIKI", url: "http://a/" }, "name: is the name of another server"],
    ["the service's name", { name: "Parlance", url: "http://a/" }, "name: must not be `parlance`"],
    ["an address of the API", { name: "test", url: "http://a/" }, "cannot be the name"],
    ["a setting that there is not", { name: "sly", url: "http://a/", timeout: 3 }, "timeout: is not a known key"],
  ])("refuses a server with %s", async (_name, body, message) => {
    for (const path of ["/mcp_servers", "/mcp_servers/test"]) {
      const answer = await configure("POST", path, body);
      expect(answer.status).toBe(400);
      expect(answer.body.error.message).toContain(message);
    }
  });

  test("locks the servers of the file", async () => {
    const locked = { status: 409, body: { error: { code: "configuration_locked" } } };
    expect(await configure("POST", "/mcp_servers/filed", { name: "filed", url: "http://a/" })).toMatchObject(locked);
    expect(await configure("DELETE", "/mcp_servers/filed")).toMatchObject(locked);
  });

  test("keeps a header at its address, in changes and in tests of them", async () => {
    const headers = { "x-token": "[redacted]" };
    for (const path of ["/mcp_servers/wiki", "/mcp_servers/test"]) {
      const moved = await configure("POST", path, wiki({ headers, url: second.server.url }));
      expect(moved).toMatchObject({ status: 400, body: { error: { param: "headers.x-token" } } });
    }
    expect((await configure("POST", "/mcp_servers/test", wiki({ headers }))).body).toMatchObject({ ok: true });
    const changed = await configure("POST", "/mcp_servers/wiki", wiki({ headers, price_per_call: "0.5" }));
    expect(changed.status).toBe(200);
    expect(await call(service, "wiki__who")).toBe("first");
    expect(first.server.requests.at(-1)?.headers["x-token"]).toBe(SECRET);
  });

  test("keeps a header at the API whose document its server names", async () => {
    const api = (openapi: string, token: string) => ({ name: "api", openapi, headers: { "x-token": token } });
    const created = await configure("POST", "/mcp_servers", api(`${first.server.url}/openapi.json`, SECRET));
    expect(created.status).toBe(200);
    for (const path of ["/mcp_servers/api", "/mcp_servers/test"]) {
      const before = second.server.requests.length;
      const moved = await configure("POST", path, api(`${second.server.url}/openapi.json`, "[redacted]"));
      expect(moved).toMatchObject({ status: 400, body: { error: { param: "headers.x-token" } } });
      expect(second.server.requests.length).toBe(before);
    }
    expect((await configure("DELETE", "/mcp_servers/api")).status).toBe(200);
  });

  test("applies who may use a server to the next request", async () => {
    await configure("POST", "/mcp_servers/wiki", wiki({ access: [{ tools: ["who"] }] }));
    expect(await toolsOf(service)).toEqual(["filed__who", "filed__wait", "wiki__who"]);
    await configure("POST", "/mcp_servers/wiki", wiki());
    expect(await toolsOf(service)).toContain("wiki__wait");
  });

  test("lets a running call end when its server changes, and asks the new one next", async () => {
    const running = call(service, "wiki__wait");
    await eventually(() => expect(first.waiting).toHaveLength(1));
    await configure("POST", "/mcp_servers/wiki", wiki({ url: second.server.url }));
    expect(await call(service, "wiki__who")).toBe("second");
    first.waiting.pop()?.();
    expect(await running).toBe("waited");
  });

  test("lets a running call end when its server is removed, refuses the next, and restores the server", async () => {
    const running = call(service, "wiki__wait");
    await eventually(() => expect(second.waiting).toHaveLength(1));
    const { version } = (await configure("GET", "/configuration/versions?limit=1")).body.data[0];
    expect((await configure("DELETE", "/mcp_servers/wiki")).status).toBe(200);
    await expect(call(service, "wiki__who")).rejects.toThrow("Unknown tool");
    const list = { jsonrpc: "2.0", id: 1, method: "tools/list" };
    await eventually(async () => expect((await other.post("/mcp", list)).status).toBe(404));
    second.waiting.pop()?.();
    expect(await running).toBe("waited");
    expect((await configure("POST", `/configuration/versions/${version}/restore`)).status).toBe(200);
    expect(await call(service, "wiki__who")).toBe("second");
  });

  test("refuses people without the permission, and other organizations", async () => {
    const answer = await service.post("/v1/organization/mcp_servers", wiki({ name: "mine" }));
    expect(answer.status).toBe(403);
  });
});

describe("as programs, where the file allows that", () => {
  let service: ServiceProcess;
  let configure: ConfigurationClient;
  beforeAll(async () => {
    service = await startServiceProcess({ config: "builtin_models: false\nmcp: { commands: live }\n" });
    configure = configurationClient(service);
  });
  afterAll(() => service?.stop());

  const local = (greeting: string, more: object = {}) => ({
    name: "local",
    command: [process.execPath, STDIO_SERVER, service.dataDirectory],
    environment: { GREETING: greeting },
    ...more,
  });
  /** On a busy machine, the program starts after the time for which a list waits for it. */
  const expectGreeting = (greeting: string) =>
    eventually(async () => expect(await call(service, "local__greet")).toBe(`${greeting} without a key`));
  /** Processes of the server, by an argument that no others have. */
  const processes = async () => {
    const entries = (await readdir("/proc")).filter(
      (name) => /^\d+$/.test(name) && Number(name) !== service.process.pid,
    );
    const commands = await Promise.all(entries.map((id) => readFile(`/proc/${id}/cmdline`, "utf8").catch(() => "")));
    return commands.filter((text) => text.includes(STDIO_SERVER) && text.includes(service.dataDirectory)).length;
  };

  test("starts a program to test it, and ends it", async () => {
    const { body } = await configure("POST", "/mcp_servers/test", local("hi"));
    expect(body).toMatchObject({ ok: true, software: { name: "stdio" } });
    await eventually(async () => expect(await processes()).toBe(0));
  });

  test("runs a program with its variables, which no answer shows, and another one after a change", async () => {
    expect(await configure("POST", "/mcp_servers", local(SECRET))).toMatchObject({
      status: 200,
      body: { value: { environment: { GREETING: "[redacted]" } } },
    });
    await expectGreeting(SECRET);
    const same = local("[redacted]", { price_per_call: "0.1" });
    expect((await configure("POST", "/mcp_servers/local", same)).status).toBe(200);
    expect(await call(service, "local__greet")).toBe(`${SECRET} without a key`);
    const other = { ...local("[redacted]"), command: ["/usr/bin/env"] };
    expect(await configure("POST", "/mcp_servers/local", other)).toMatchObject({
      status: 400,
      body: { error: { param: "environment.GREETING" } },
    });
    await configure("POST", "/mcp_servers/local", local("hello"));
    await expectGreeting("hello");
    await eventually(async () => expect(await processes()).toBe(1));
  });

  test("ends the program of a removed server", async () => {
    expect((await configure("DELETE", "/mcp_servers/local")).status).toBe(200);
    await eventually(async () => expect(await processes()).toBe(0));
  });
});

interface Upstream {
  server: TestMcpServer;
  /** Ends the calls of `wait`. */
  waiting: (() => void)[];
}

async function startUpstream(name: string): Promise<Upstream> {
  const waiting: (() => void)[] = [];
  const text = (value: string) => ({ content: [{ type: "text" as const, text: value }] });
  const server = await startMcpServer("stateless", () => {
    const served = new McpServer({ name, version: "1.0.0" }, { capabilities: { tools: {} } });
    served.registerTool("who", {}, () => text(name));
    served.registerTool("wait", { description: "Waits" }, async () => {
      await new Promise<void>((resolve) => void waiting.push(resolve));
      return text("waited");
    });
    return served;
  });
  return { server, waiting };
}
