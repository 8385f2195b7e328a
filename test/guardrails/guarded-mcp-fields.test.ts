/** What an MCP server may write beside texts: titles, icons, metadata, types, errors. Each of them has an address here. */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type InProcessService, startService } from "../support/service/service.ts";

const EMAIL = "grace.hopper@example.com";
const META = { owner: EMAIL, people: [{ mail: EMAIL }] };
const RESOURCE = { uri: "note://1", text: "Hi.", mimeType: EMAIL, _meta: META };
const BLOCKS = [
  { type: "text", text: "Plain.", _meta: META },
  {
    ...{ type: "resource_link", uri: "note://1", name: "first", title: `By ${EMAIL}`, mimeType: EMAIL, _meta: META },
    icons: [{ src: `mailto:${EMAIL}` }],
  },
  { type: "resource", resource: RESOURCE, annotations: { priority: 1 } },
  { type: "image", data: "AAAA", mimeType: EMAIL, annotations: { audience: ["user"] }, _meta: META },
];
const DESCRIPTION = {
  ...{ title: `By ${EMAIL}`, description: `Mails ${EMAIL}` },
  inputSchema: { type: "object", properties: { to: { type: "string", description: `Such as ${EMAIL}` } } },
};

type Params = Readonly<Record<string, unknown>>;

const fail = (message: string): never => {
  throw new Error(message);
};

const METHODS: Record<string, (params: Params) => object> = {
  initialize: ({ protocolVersion }) => ({
    ...{ protocolVersion, serverInfo: { name: EMAIL, version: "1" } },
    capabilities: { tools: {}, prompts: {}, resources: {}, completions: {} },
  }),
  "tools/list": () => ({ tools: ["all", "break"].map((name) => ({ name, ...DESCRIPTION })) }),
  "tools/call": ({ name }) => {
    if (name === "break") fail(`No row for ${EMAIL}`);
    return { content: BLOCKS, structuredContent: { mail: EMAIL }, _meta: META };
  },
  "prompts/list": () => ({ prompts: [{ name: "greet" }] }),
  "prompts/get": () => ({
    messages: BLOCKS.map((content) => ({ role: "user", content })),
    description: `For ${EMAIL}`,
    _meta: META,
  }),
  "resources/list": () => fail(`No list for ${EMAIL}`),
  "resources/read": () => ({ contents: [RESOURCE], _meta: META }),
  "completion/complete": () => ({ completion: { values: ["a", EMAIL], total: 2 }, _meta: META }),
};

/** A server of the protocol of 2025 without sessions. Its other one lists no tools. */
const mcp = createServer(async (request, response) => {
  if (request.method !== "POST") return void response.writeHead(405).end();
  const { id, method, params = {} } = (await json(request)) as { id?: number; method: string; params?: Params };
  if (id === undefined) return void response.writeHead(202).end();
  const answer = () => {
    const run = request.url === "/closed" && method === "tools/list" ? METHODS["resources/list"] : METHODS[method];
    if (run === undefined) return { error: { code: -32601, message: `No ${method}` } };
    try {
      return { result: run(params) };
    } catch (failure) {
      return { error: { code: -32603, message: (failure as Error).message } };
    }
  };
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify({ jsonrpc: "2.0", id, ...answer() }));
});

let service: InProcessService;
let client: Client;
beforeAll(async () => {
  await new Promise<void>((resolve) => mcp.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(mcp.address() as AddressInfo).port}`;
  service = await startService({
    config: `
guardrails: [{ type: pii, action: mask, on: [input, output], unreadable: pass }]
guardrail_services: { presidio: { url: "http://127.0.0.1:9", timeout_seconds: 1 } }
mcp_servers: [{ name: crm, url: "${url}" }, { name: closed, url: "${url}/closed" }]
models:
  - id: agent
    task: chat
    deployments:
      - engine: scripted
        abilities: { tools: true }
        replies:
          - { match_tool: "/^/", text: "Done." }
          - { text: "", tool_calls: [{ name: crm__break, arguments: {} }] }
`,
  });
  client = new Client({ name: "test", version: "1.0.0" });
  const headers = { authorization: `Bearer ${service.apiKey}` };
  await client.connect(
    new StreamableHTTPClientTransport(new URL("/mcp/crm", service.origin), { requestInit: { headers } }),
  );
});
afterAll(async () => {
  await client?.close();
  await service?.stop();
  mcp.closeAllConnections();
  mcp.close();
});

/** The answer as the server wrote it, with the address masked. */
const masked = (answer: object) => JSON.parse(JSON.stringify(answer).replaceAll(EMAIL, "<EMAIL_ADDRESS>"));
const written = (method: string) => masked(METHODS[method]?.({}) ?? {});

describe("at /mcp", () => {
  test("every field of a result is masked, and nothing else changes", async () => {
    expect(await client.callTool({ name: "all", arguments: {} })).toEqual(written("tools/call"));
  });

  test("so are those of prompts, resources and completions", async () => {
    expect(await client.getPrompt({ name: "greet" })).toEqual(written("prompts/get"));
    expect(await client.readResource({ uri: "note://1" })).toEqual(written("resources/read"));
    const argument = { name: "city", value: "" };
    expect(await client.complete({ ref: { type: "ref/prompt", name: "greet" }, argument })).toEqual(
      written("completion/complete"),
    );
  });

  test("the message of an error is masked", async () => {
    await expect(client.callTool({ name: "break", arguments: {} })).rejects.toThrow("No row for <EMAIL_ADDRESS>");
  });

  test("the message of a list that fails is masked", async () => {
    await expect(client.listResources()).rejects.toThrow("No list for <EMAIL_ADDRESS>");
  });
});

describe("at /v1/mcp_servers", () => {
  test("every field of a tool is masked", async () => {
    const { data } = await send("GET", "/v1/mcp_servers/crm/tools");
    const { title, description, inputSchema } = masked(DESCRIPTION);
    const shown = { title, description, input_schema: inputSchema };
    expect(data).toMatchObject([
      { id: "all", ...shown },
      { id: "break", ...shown },
    ]);
    expect(JSON.stringify(data)).not.toContain(EMAIL);
  });

  test("servers have no problem and no software in their own words, except for administrators", async () => {
    const { data } = await send("GET", "/v1/mcp_servers");
    expect(data).toMatchObject([
      { id: "crm", status: "up", problem: null, software: null, protocol_era: "sessions" },
      { id: "closed", status: "failed", problem: "The server did not list its tools.", software: null },
    ]);
    const { data: all } = await administer("GET", "/v1/organization/mcp_servers");
    const written = { problem: expect.stringContaining(EMAIL), software: { name: EMAIL } };
    expect(all).toMatchObject([{ id: "crm" }, { id: "closed", ...written }]);
  });

  test("the message of a server that lists no tools for a call is masked", async () => {
    const { error } = await send("POST", "/v1/mcp_servers/closed/calls", { name: "all" }, 502);
    expect(error.message).toContain("No list for <EMAIL_ADDRESS>");
  });
});

test("within a response, the message of an error is masked for the caller", async () => {
  const tool = { type: "mcp", server_label: "crm", require_approval: "never" } as const;
  const { output } = await service.client().responses.create({ model: "agent", input: "Go.", tools: [tool] });
  const call = output.find(({ type }) => type === "mcp_call") as OpenAI.Responses.ResponseItem.McpCall;
  expect(call.error).toMatchObject({ type: "mcp_protocol_error", code: -32603 });
  expect(JSON.stringify(output)).toContain("No row for <EMAIL_ADDRESS>");
  expect(JSON.stringify(output)).not.toContain(EMAIL);
});

describe("while a guardrail cannot check", () => {
  test("the message of an error stays with it", async () => {
    const project = await administer("GET", "/v1/organization/projects");
    const path = `/v1/organization/projects/${project.data[0].id}/guardrails`;
    await administer("POST", path, { guardrails: [{ type: "pii", engine: "presidio", on: ["output"] }] });
    await expect(client.callTool({ name: "break", arguments: {} })).rejects.toThrow("needs the Presidio server");
    await administer("POST", path, { guardrails: [] });
  });
});

type Method = "GET" | "POST";

const send = (method: Method, url: string, payload?: object, status = 200) =>
  sendAs(service.apiKey, method, url, payload, status);
const administer = (method: Method, url: string, payload?: object) => sendAs(service.adminKey, method, url, payload);

async function sendAs(key: string, method: Method, url: string, payload?: object, status = 200) {
  const headers = { authorization: `Bearer ${key}` };
  const response = await service.inject({ method, url, headers, ...(payload && { payload }) });
  expect(response.statusCode, response.body).toBe(status);
  return response.json();
}
