/** /mcp with the SDK's client, in both eras of the protocol, over two replicas in turn. */

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { serviceFunctionName } from "../../src/wire/responses/responses-tools.ts";
import { LONG_NAME, startMcpServer, type TestMcpServer } from "../support/mcp/mcp-server.ts";
import { eventually } from "../support/service/eventually.ts";
import { type InProcessService, startService } from "../support/service/service.ts";

const STDIO_SERVER = new URL("../support/mcp/stdio-server.ts", import.meta.url).pathname;

let upstreams: TestMcpServer[];
let replicas: InProcessService[];
let turn = 0;
beforeAll(async () => {
  upstreams = await Promise.all([startMcpServer("sessions"), startMcpServer("stateless")]);
  const [old, modern] = upstreams.map(({ url }) => url);
  const config = `
builtin_models: false
usage: { labels: { tools: true } }
mcp_servers:
  - { name: old, url: "${old}", headers: { x-token: operator-secret }, price_per_call: "0.5" }
  - { name: new, url: "${modern}", access: [{ tools: [add, hang] }], timeout_seconds: 1 }
  - { name: others, url: "${modern}", access: [{ projects: [proj_of_others] }] }
  - { name: down, url: "http://127.0.0.1:9/mcp" }
  - { name: local, command: ["${process.execPath}", "${STDIO_SERVER}"], environment: { GREETING: hello } }
models:
  - { id: parrot, task: chat, deployments: [{ engine: scripted, echo: true }] }
`;
  replicas = await Promise.all([startService({ config }), startService({ config })]);
});
afterAll(async () => {
  await Promise.all(
    [...(replicas ?? []), ...(upstreams ?? [])].map((each) => ("stop" in each ? each.stop() : each.close())),
  );
});
beforeEach(() => {
  for (const { requests } of upstreams) requests.length = 0;
});

/** Sends each request to the other replica. */
const inTurn: typeof fetch = (input, init) => {
  turn += 1;
  const { pathname } = new URL(String(input));
  return fetch(`${replicas[turn % 2]?.origin}${pathname}`, init);
};

async function connect(mode: "legacy" | { pin: string }): Promise<Client> {
  const client = new Client({ name: "test", version: "1.0.0" }, { versionNegotiation: { mode } });
  const [first] = replicas as [InProcessService];
  const headers = { authorization: `Bearer ${first.apiKey}` };
  await client.connect(
    new StreamableHTTPClientTransport(new URL("/mcp", first.origin), { fetch: inTurn, requestInit: { headers } }),
  );
  return client;
}

describe.each([
  ["2025", "legacy" as const],
  ["2026-07-28", { pin: "2026-07-28" }],
])("a client of %s", (_name, mode) => {
  let client: Client;
  beforeAll(async () => {
    client = await connect(mode);
    // A list leaves out servers that need more than five seconds, as programs do that start on a busy machine.
    await eventually(async () => {
      const names = (await client.listTools()).tools.map(({ name }) => name);
      expect(names).toEqual(expect.arrayContaining(["old__add", "new__add", "local__greet"]));
    });
  });
  afterAll(() => client?.close());

  test("lists what its project may use, by names that models accept", async () => {
    // The other replica starts its own program, perhaps later.
    await eventually(async () => {
      const names = (await client.listTools()).tools.map(({ name }) => name);
      expect(names).toContain("old__add");
      expect(names).toContain(serviceFunctionName(LONG_NAME, "old"));
      expect(names.filter((name) => name.startsWith("new__"))).toEqual(["new__add", "new__hang"]);
      expect(names).toContain("local__greet");
      expect(names.some((name) => name.startsWith("others__") || name.startsWith("down__"))).toBe(false);
      expect(names.every((name) => /^[\w-]{1,64}$/.test(name))).toBe(true);
    });
  });

  test.each(["old__add", "new__add"])("calls a tool: %s", async (name) => {
    const result = await client.callTool({ name, arguments: { a: 1, b: 2 } });

    expect(result.content).toEqual([{ type: "text", text: "sum 3" }]);
  });

  test("passes on results that are not text, and errors of the tool", async () => {
    const image = await client.callTool({ name: "old__image", arguments: {} });
    expect(image.content[0]).toMatchObject({ type: "image", mimeType: "image/png" });
    const failed = await client.callTool({ name: "old__fail", arguments: {} });
    expect(failed).toMatchObject({ isError: true, content: [{ text: "no such page" }] });
  });

  test("redacts the operator's token where a server repeats it", async () => {
    const echoed = await client.callTool({ name: "old__echo", arguments: { text: "I got operator-secret." } });
    expect(echoed.content).toEqual([{ type: "text", text: "I got [redacted]." }]);
  });

  test("sends the operator's headers and never the client's key", async () => {
    await client.callTool({ name: "old__add", arguments: { a: 1, b: 2 } });

    const sent = upstreams[0]?.requests.map(({ headers }) => headers) ?? [];
    expect(sent.length).toBeGreaterThan(0);
    expect(sent.every((headers) => headers["x-token"] === "operator-secret")).toBe(true);
    expect(JSON.stringify(sent)).not.toContain(replicas[0]?.apiKey);
  });

  test.each([
    ["old__huge", "the limit for its answers"],
    ["old__large", "the limit is 1048576"],
    ["old__die", "The MCP server 'old' failed."],
    ["new__hang", "It did not answer within 1 seconds."],
    ["new__docs", "Unknown tool"],
    ["others__add", "Unknown tool"],
  ])("refuses or ends %s", async (name, message) => {
    await expect(client.callTool({ name, arguments: {} })).rejects.toThrow(message);
  });

  test("passes on the progress that a program writes together with its result", async () => {
    const steps: number[] = [];
    const { content } = await client.callTool(
      { name: "local__count", arguments: {} },
      { onprogress: ({ progress }) => steps.push(progress) },
    );

    expect(content).toEqual([{ type: "text", text: "3" }]);
    expect(steps).toEqual([1, 2, 3]);
  });

  test("calls a server that runs as a process, which starts again after its end", async () => {
    const greet = () => client.callTool({ name: "local__greet", arguments: {} });
    expect((await greet()).content).toEqual([{ type: "text", text: "hello without a key" }]);

    await expect(client.callTool({ name: "local__exit", arguments: {} })).rejects.toThrow(
      "The MCP server 'local' failed.",
    );
    const greets = () =>
      greet().then(
        ({ content }) => content,
        () => [],
      );
    // Both replicas: their processes are not the same.
    const both = async () => [await greets(), await greets()];
    const greeting = [{ type: "text", text: "hello without a key" }];
    await expect.poll(both).toEqual([greeting, greeting]);
  });
});

const post = (payload: object, headers: Record<string, string> = {}) =>
  (replicas[0] as InProcessService).inject({
    method: "POST",
    url: "/mcp",
    payload,
    headers: { accept: "application/json, text/event-stream", ...headers },
  });

test("names its metadata to a client without a key (RFC 9728)", async () => {
  const refused = await post({ jsonrpc: "2.0", id: 1, method: "tools/list" });
  expect(refused.statusCode).toBe(401);
  const [, url = ""] = /resource_metadata="([^"]+)"/.exec(String(refused.headers["www-authenticate"])) ?? [];

  const metadata = await (replicas[0] as InProcessService).inject({ url: new URL(url).pathname });
  expect(metadata.json()).toMatchObject({
    resource: expect.stringMatching(/\/mcp$/),
    bearer_methods_supported: ["header"],
  });
});

test("refuses a server that the project may not use", async () => {
  const { apiKey, inject } = replicas[0] as InProcessService;
  const headers = { authorization: `Bearer ${apiKey}`, accept: "application/json, text/event-stream" };
  const payload = { jsonrpc: "2.0", id: 1, method: "tools/list" };
  for (const server of ["others", "unknown"]) {
    const refused = await inject({ method: "POST", url: `/mcp/${server}`, payload, headers });
    expect(refused.statusCode).toBe(404);
    expect(refused.json()).toMatchObject({ error: { code: "mcp_server_not_found" } });
  }
});

test("refuses a page whose name points at the service (DNS rebinding)", async () => {
  const { apiKey } = replicas[0] as InProcessService;
  const list = { jsonrpc: "2.0", id: 1, method: "tools/list" };
  const headers = { authorization: `Bearer ${apiKey}`, host: "evil.example", origin: "http://evil.example" };

  expect((await post(list, headers)).statusCode).toBe(403);
});

test("refuses pages of another origin", async () => {
  const { apiKey, origin } = replicas[0] as InProcessService;
  const list = { jsonrpc: "2.0", id: 1, method: "tools/list" };
  const from = (page: string) =>
    post(list, { authorization: `Bearer ${apiKey}`, host: new URL(origin).host, origin: page });

  expect((await from("https://evil.example")).statusCode).toBe(403);
  expect((await from(origin)).statusCode).toBe(200);
});

test("bills each call, and shows it in the request history with its tool", async () => {
  const { apiKey, adminKey, inject } = replicas[0] as InProcessService;
  const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "old__add", arguments: { a: 1, b: 2 } } };
  const answer = await post(call, { authorization: `Bearer ${apiKey}` });
  expect(answer.statusCode).toBe(200);
  const one = await inject({
    method: "POST",
    url: "/mcp/new",
    payload: { ...call, params: { ...call.params, name: "add" } },
    headers: { authorization: `Bearer ${apiKey}`, accept: "application/json, text/event-stream" },
  });
  expect(one.body).toContain("sum 3");

  const headers = { authorization: `Bearer ${adminKey}` };
  const from = Math.floor(Date.now() / 1000) - 86_400;
  const costs = async () => {
    const { data } = (
      await inject({ url: `/v1/organization/costs?start_time=${from}&group_by=line_item&limit=2`, headers })
    ).json() as { data: { results: { line_item: string; amount: { value: number } }[] }[] };
    return data.flatMap(({ results }) => results).find(({ line_item: item }) => item.startsWith("mcp/old"));
  };
  await expect.poll(costs).toMatchObject({ amount: { value: expect.any(Number) } });
  const history = (await inject({ url: "/v1/organization/requests?limit=100", headers })).json() as {
    data: { model: string; operation: string }[];
  };
  expect(history.data).toContainEqual(expect.objectContaining({ model: "mcp/old/add", operation: "mcp" }));
  expect(history.data).toContainEqual(expect.objectContaining({ model: "mcp/new/add", operation: "mcp" }));
});

test("counts calls against the rate limit of requests", async () => {
  const limited = await startService({
    config: `
builtin_models: false
limits: { key: { requests_per_minute: 1 } }
mcp_servers: [{ name: new, url: "${upstreams[1]?.url}" }]
`,
  });
  try {
    const call = {
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "new__add", arguments: { a: 1, b: 2 } },
    };
    const headers = {
      authorization: `Bearer ${limited.apiKey}`,
      accept: "application/json, text/event-stream",
    };
    const send = () => limited.inject({ method: "POST", url: "/mcp", payload: call, headers });
    expect((await send()).statusCode).toBe(200);
    const refused = await send();
    expect(refused.statusCode).toBe(429);
    expect(refused.json()).toMatchObject({ error: { code: "rate_limit_exceeded" } });
  } finally {
    await limited.stop();
  }
});
