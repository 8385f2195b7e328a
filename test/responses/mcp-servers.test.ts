/** Lists of MCP servers and of their calls, and calls over the API, as the console shows and makes them. */

import { readdirSync, readFileSync } from "node:fs";
import { getPriority } from "node:os";
import { afterAll, beforeAll, expect, test } from "vitest";
import { OPERATOR } from "../../src/features/accounts/audit/audit.ts";
import { startMcpServer, type TestMcpServer } from "../support/mcp/mcp-server.ts";
import { eventually } from "../support/service/eventually.ts";
import { type InProcessService, startService } from "../support/service/service.ts";

const STDIO_SERVER = new URL("../support/mcp/stdio-server.ts", import.meta.url).pathname;

interface Call {
  server: string;
  tool: string;
  source: string;
  outcome: string;
  error: string | null;
  cost_usd: number | null;
  project_id: string;
  result_bytes: number | null;
}

let upstreams: TestMcpServer[];
let service: InProcessService;
let foreignKey = "";
beforeAll(async () => {
  upstreams = await Promise.all([startMcpServer("sessions"), startMcpServer("stateless")]);
  const [old, modern] = upstreams.map(({ url }) => url);
  service = await startService({
    config: `
builtin_models: false
mcp_servers:
  - { name: old, url: "${old}?key=query-secret", headers: { x-token: operator-secret }, price_per_call: "0.5" }
  - { name: new, url: "${modern}", access: [{ tools: [add, hang, fail] }], timeout_seconds: 1, require_approval: always }
  - { name: others, url: "${modern}", access: [{ projects: [proj_of_others] }] }
  - { name: down, url: "http://127.0.0.1:9/mcp" }
  - { name: local, command: ["${process.execPath}", "${STDIO_SERVER}", argument-secret], environment: { GREETING: hello } }
models:
  - id: agent
    task: chat
    deployments:
      - engine: scripted
        abilities: { tools: true }
        replies:
          - { match_tool: "sum 3", text: "It is 3." }
          - { match: add, tool_calls: [{ name: old__add, arguments: { a: 1, b: 2 } }] }
`,
  });
  const { organizationId } = await service.accounts.defaultScope("admin");
  const { id: projectId } = await service.accounts.projects.create(OPERATOR, organizationId, "Foreign");
  const scope = { kind: "project" as const, organizationId, projectId, userId: undefined };
  const created = await service.accounts.apiKeys.create(OPERATOR, {
    scope,
    name: "foreign",
    expiresInSeconds: undefined,
  });
  foreignKey = created.secret.reveal();
  // The service starts without waiting for its MCP servers.
  await eventually(async () => {
    const { body } = await send("GET", "/v1/organization/mcp_servers", { key: service.adminKey });
    expect(body.data.map((each: { status: string }) => each.status)).not.toContain("starting");
  });
});
afterAll(async () => {
  await service?.stop();
  await Promise.all((upstreams ?? []).map((each) => each.close()));
});

async function send(
  method: "GET" | "POST",
  url: string,
  { key = service.apiKey, body }: { key?: string; body?: object } = {},
) {
  const headers = { authorization: `Bearer ${key}` };
  const response = await service.inject({ method, url, headers, ...(body !== undefined && { body }) });
  return { status: response.statusCode, text: response.body, body: response.json() };
}

const callsOf = async (query: string, key?: string): Promise<Call[]> =>
  (await send("GET", `/v1/organization/mcp_calls?${query}`, key === undefined ? {} : { key })).body.data;

test("lists the servers that the project may use, with state, transport and era, without their addresses", async () => {
  const { body, text } = await send("GET", "/v1/mcp_servers");

  expect(body.data).toMatchObject([
    { id: "old", transport: "http", status: "up", protocol_era: "sessions", software: { name: "test" }, problem: null },
    { id: "new", status: "up", protocol_version: "2026-07-28", protocol_era: "stateless", tool_count: 3 },
    { id: "down", status: "failed", problem: "The server could not be reached.", tool_count: 0, software: null },
    { id: "local", transport: "stdio", status: "up", software: { name: "stdio" }, tool_count: 4 },
  ]);
  expect(body.data[1]).toMatchObject({ require_approval: "always" });
  expect(text).not.toContain("127.0.0.1");
});

test.runIf(process.platform === "linux")("gives the process of a server a lower priority than the service", () => {
  const servers = readdirSync("/proc").filter((pid) => {
    const parent = /^PPid:\t(\d+)$/m.exec(textOf(`/proc/${pid}/status`))?.[1];
    return parent === String(process.pid) && textOf(`/proc/${pid}/cmdline`).includes(STDIO_SERVER);
  });
  expect(servers.map((pid) => getPriority(Number(pid)))).toEqual([Math.min(19, getPriority() + 5)]);
});

/** Empty for a file of a process that has ended. */
function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

test("lists all servers with settings and without secrets for administrators of the installation only", async () => {
  const { body, text } = await send("GET", "/v1/organization/mcp_servers", { key: service.adminKey });

  expect(body.data.map(({ id }: { id: string }) => id)).toEqual(["old", "new", "others", "down", "local"]);
  expect(body.data[0].settings).toMatchObject({
    url: upstreams[0]?.url,
    headers: ["x-token"],
    access: [{ projects: null, tools: null }],
    price_per_call: "0.5",
  });
  expect(body.data[2].settings.access).toEqual([{ projects: ["proj_of_others"], tools: null }]);
  expect(body.data[4].settings).toMatchObject({ url: null, command: process.execPath });
  expect(text).not.toMatch(/operator-secret|query-secret|argument-secret|hello/);
  const { status } = await send("GET", "/v1/organization/mcp_servers");
  expect(status).toBe(403);
});

test("lists the tools that the project may use, with schema, hints and price", async () => {
  const { body } = await send("GET", "/v1/mcp_servers/new/tools");
  expect(body.data.map(({ id }: { id: string }) => id)).toEqual(["add", "fail", "hang"]);
  const { body: priced } = await send("GET", "/v1/mcp_servers/old/tools?limit=1");
  expect(priced).toMatchObject({
    has_more: true,
    data: [
      {
        ...{ id: "add", description: "Adds two numbers", price_usd: "0.5", read_only: true, destructive: false },
        input_schema: { type: "object", properties: { a: { type: "number" } }, required: ["a", "b"] },
      },
    ],
  });
  const { body: all } = await send("GET", "/v1/organization/mcp_servers/new/tools", { key: service.adminKey });
  expect(all.data.length).toBeGreaterThan(3);
});

test.each(["/v1/mcp_servers/others/tools", "/v1/mcp_servers/none/tools"])("does not find %s", async (url) => {
  expect(await send("GET", url)).toMatchObject({ status: 404, body: { error: { code: "mcp_server_not_found" } } });
});

test("calls a tool and returns its content, the time and the price", async () => {
  const body = { name: "add", arguments: { a: 1, b: 2 } };
  const result = await send("POST", "/v1/mcp_servers/old/calls", { body });

  expect(result.body).toMatchObject({
    ...{ content: [{ type: "text", text: "sum 3" }], is_error: false, structured_content: null, cost_usd: "0.5" },
    duration_ms: expect.any(Number),
  });
});

test.each([
  ["old", "fail", 200, "no such page"],
  ["new", "hang", 502, "It did not answer within 1 seconds."],
  ["new", "echo", 404, "has no tool 'echo'"],
  ["others", "add", 404, "There is no MCP server 'others'"],
  ["down", "add", 502, "The server could not be reached."],
])("answers a call of %s/%s with the status %i", async (server, name, status, message) => {
  const result = await send("POST", `/v1/mcp_servers/${server}/calls`, { body: { name } });

  expect({ status: result.status, text: result.text }).toEqual({ status, text: expect.stringContaining(message) });
});

test("ends a call whose client leaves, and logs that", async () => {
  const [old] = upstreams as [TestMcpServer];
  const leaving = new AbortController();
  const headers = { authorization: `Bearer ${service.apiKey}`, "content-type": "application/json" };
  const init = { method: "POST", headers, body: JSON.stringify({ name: "hang" }), signal: leaving.signal };
  const sent = fetch(`${service.origin}/v1/mcp_servers/old/calls`, init);
  const isRunning = () => old.requests.some(({ method, body }) => method === "tools/call" && body.includes("hang"));
  await eventually(async () => expect(isRunning()).toBe(true));
  leaving.abort();
  await expect(sent).rejects.toThrow();
  await eventually(async () => expect(await callsOf("server=old&tool=hang")).toMatchObject([{ outcome: "cancelled" }]));
  await eventually(async () => expect(old.aborted).toBe(1));
});

test("lists the calls of responses, of clients and of the API, without arguments and results", async () => {
  const tools = [{ type: "mcp", server_label: "old", require_approval: "never", allowed_tools: ["add"] }];
  const answer = await send("POST", "/v1/responses", { body: { model: "agent", input: "add", tools } });
  expect(answer.body).toMatchObject({ output: [{}, { type: "mcp_call", output: "sum 3" }, {}] });
  const params = { name: "old__fail", arguments: {} };
  const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params };
  const headers = {
    authorization: `Bearer ${service.apiKey}`,
    accept: "application/json, text/event-stream",
    "content-type": "application/json",
  };
  await (await fetch(`${service.origin}/mcp`, { method: "POST", headers, body: JSON.stringify(message) })).text();

  await eventually(async () => expect(await callsOf("server=old&limit=10")).toHaveLength(5));
  const calls = await callsOf("server=old&limit=10&order=asc&outcome=completed");
  calls.push(...(await callsOf("server=old&limit=10&order=asc&outcome=tool_error")));
  expect(calls.map(({ source, tool, outcome }) => `${source} ${tool} ${outcome}`)).toEqual([
    "api add completed",
    "response add completed",
    "api fail tool_error",
    "gateway fail tool_error",
  ]);
  expect(calls.every(({ cost_usd: cost, result_bytes: bytes }) => cost === 0.5 && Number(bytes) > 0)).toBe(true);
  expect(JSON.stringify(calls)).not.toMatch(/sum 3|no such page/);
  const [failed] = await callsOf("server=new&outcome=failed");
  expect(failed).toMatchObject({ tool: "hang", error: "It did not answer within 1 seconds.", result_bytes: null });
});

test("shows a project its calls only, and an administrator all", async () => {
  expect(await callsOf("limit=10", foreignKey)).toEqual([]);
  await send("POST", "/v1/mcp_servers/old/calls", { key: foreignKey, body: { name: "fail" } });
  await eventually(async () => expect(await callsOf("limit=10", foreignKey)).toHaveLength(1));
  const [call] = await callsOf("limit=10", foreignKey);
  const all = await callsOf("limit=100", service.adminKey);
  expect(new Set(all.map(({ project_id: id }) => id)).size).toBe(2);
  expect(await callsOf(`project_id=${call?.project_id}`, service.adminKey)).toEqual([call]);
});
