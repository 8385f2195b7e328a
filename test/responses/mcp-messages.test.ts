/** `mcp_servers` in Messages with Anthropic's client, against servers of the SDK. */

import Anthropic from "@anthropic-ai/sdk";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startMcpServer, type TestMcpServer } from "../support/mcp/mcp-server.ts";
import { type InProcessService, startService } from "../support/service/service.ts";

const BETAS = ["mcp-client-2025-11-20"];

let mcp: TestMcpServer;
let far: InProcessService;
let service: InProcessService;
let client: Anthropic;

beforeAll(async () => {
  mcp = await startMcpServer("stateless");
  const agent = `
  - id: agent
    task: chat
    deployments:
      - engine: scripted
        abilities: { tools: true }
        replies:
          - { match_tool: "sum 3", text: "It is three." }
          - { match_tool: "no such page", text: "It failed." }
          - { match_tool: "/^/", text: "Done." }
          - { match: "both;", tool_calls: [{ name: math__add, arguments: { a: 1, b: 2 } }, { name: weather, arguments: { city: Paris } }] }
          - { match: "fail;", tool_calls: [{ name: math__fail, arguments: {} }] }
          - { match: "add;", tool_calls: [{ name: math__add, arguments: { a: 1, b: 2 } }] }
          - { match: "personal;", tool_calls: [{ name: personal__add, arguments: { a: 1, b: 2 } }] }
          - { text: "No tool." }`;
  far = await startService({ config: `builtin_models: false\nmodels: ${agent}` });
  const upstream = `engine: openai-compatible, base_url: "${far.origin}/v1", api_key: ${far.apiKey}, model: agent`;
  service = await startService({
    config: `
builtin_models: false
mcp_servers:
  - { name: math, url: "${mcp.url}", headers: { x-token: operator-secret }, price_per_call: "0.5" }
  - { name: personal, url: "${mcp.url}", caller_authorization: true }
  - { name: careful, url: "${mcp.url}", require_approval: always }
  - { name: other, url: "${mcp.url}", access: [{ projects: [proj_of_others] }] }
  - { name: down, url: "http://127.0.0.1:9/mcp" }
models: ${agent}
  - { id: by-chat, task: chat, deployments: [{ ${upstream} }] }
  - { id: by-messages, task: chat, deployments: [{ ${upstream}, abilities: { messages: true } }] }
`,
  });
  client = new Anthropic({ apiKey: service.apiKey, baseURL: service.origin, maxRetries: 0 });
});
afterAll(async () => {
  await Promise.all([service?.stop(), far?.stop(), mcp?.close()]);
});
beforeEach(() => {
  mcp.requests.length = 0;
});

type Body = Anthropic.Beta.MessageCreateParamsNonStreaming;
type Server = Partial<Anthropic.Beta.BetaRequestMCPServerURLDefinition>;

function body(text: string, server: Server = {}, fields: Partial<Body> = {}): Body {
  // The address may be empty or left out.
  const servers = [{ type: "url" as const, name: "math", url: "", ...server }];
  const messages = [{ role: "user" as const, content: text }];
  return { model: "agent", max_tokens: 100, betas: BETAS, mcp_servers: servers, messages, ...fields };
}

async function create(stream: boolean, request: Body): Promise<Anthropic.Beta.BetaMessage> {
  return stream ? client.beta.messages.stream(request).finalMessage() : client.beta.messages.create(request);
}

const typesOf = ({ content }: Anthropic.Beta.BetaMessage) => content.map(({ type }) => type);

describe.each([false, true])("streamed: %s", (stream) => {
  test.each(["agent", "by-chat", "by-messages"])("calls a tool and answers, with the model %s", async (model) => {
    const message = await create(stream, body("add;", {}, { model }));

    expect(message.content).toMatchObject([
      { type: "mcp_tool_use", name: "add", server_name: "math", input: { a: 1, b: 2 } },
      { type: "mcp_tool_result", is_error: false, content: [{ type: "text", text: "sum 3" }] },
      { type: "text", text: "It is three." },
    ]);
    const [use, result] = message.content as unknown as [{ id: string }, { tool_use_id: string }];
    expect(use.id).toMatch(/^mcptoolu_/);
    expect(result.tool_use_id).toBe(use.id);
    expect(message.stop_reason).toBe("end_turn");
    expect(message.usage.output_tokens).toBeGreaterThan(0);
    expect(mcp.requests.every(({ headers }) => headers["x-token"] === "operator-secret")).toBe(true);
    expect(JSON.stringify(mcp.requests)).not.toContain(service.apiKey);
  });

  test("names the error of a tool in its result", async () => {
    const message = await create(stream, body("fail;"));

    expect(message.content[1]).toMatchObject({ type: "mcp_tool_result", is_error: true });
    expect(message.content.at(-1)).toMatchObject({ text: "It failed." });
  });

  test("returns the caller's own tool use beside calls that ran", async () => {
    const tools = [{ name: "weather", input_schema: { type: "object" as const } }];
    const message = await create(stream, body("both;", {}, { tools }));

    expect(typesOf(message)).toEqual(["mcp_tool_use", "tool_use", "mcp_tool_result"]);
    expect(message.stop_reason).toBe("tool_use");
    const result = { type: "tool_result" as const, tool_use_id: (message.content[1] as { id: string }).id };
    const messages = [
      ...body("both;").messages,
      { role: "assistant" as const, content: message.content },
      { role: "user" as const, content: [{ ...result, content: "18 degrees" }] },
    ];
    expect((await create(stream, body("", {}, { tools, messages }))).content).toMatchObject([{ text: "Done." }]);
  });

  test.each<[string, Server, unknown[]]>([
    [
      "a toolset that disables it",
      {},
      [{ type: "mcp_toolset", mcp_server_name: "math", configs: { add: { enabled: false } } }],
    ],
    [
      "a toolset that enables others",
      {},
      [
        {
          type: "mcp_toolset",
          mcp_server_name: "math",
          default_config: { enabled: false },
          configs: { fail: { enabled: true } },
        },
      ],
    ],
    ["a tool configuration", { tool_configuration: { allowed_tools: ["fail"] } }, []],
    ["a server that is disabled", { tool_configuration: { enabled: false } }, []],
  ])("does not offer a tool with %s", async (_name, server, tools) => {
    const choice = { tool_choice: { type: "tool" as const, name: "add" }, tools: tools as never };

    await expect(create(stream, body("add;", server, choice))).rejects.toMatchObject({ status: 400 });
    expect(mcp.requests.filter(({ method }) => method === "tools/call")).toEqual([]);
  });

  test("calls the tool that the choice names", async () => {
    const message = await create(stream, body("add;", {}, { tool_choice: { type: "tool", name: "add" } }));

    expect(typesOf(message)).toEqual(["mcp_tool_use", "mcp_tool_result", "text"]);
  });

  test("sends the caller's token where the operator permits it", async () => {
    await create(stream, body("personal;", { name: "personal", authorization_token: "my-token" }));

    const call = mcp.requests.find(({ method }) => method === "tools/call");
    expect(call?.headers.authorization).toBe("Bearer my-token");
  });

  test.each<[string, Server, unknown[], number, string]>([
    ["a server that does not exist", { name: "unknown" }, [], 400, "no MCP server 'unknown'"],
    ["a server of another project", { name: "other" }, [], 403, "may not use the MCP server 'other'"],
    ["a server that does not answer", { name: "down" }, [], 502, "could not be reached"],
    ["an address", { name: "x", url: "https://mcp.example.com/" }, [], 400, "without 'url'"],
    ["a token for the operator's server", { authorization_token: "t" }, [], 400, "leave out 'authorization_token'"],
    ["approvals of the operator", { name: "careful" }, [], 400, "use /v1/responses"],
    [
      "a toolset without its server",
      {},
      [{ type: "mcp_toolset", mcp_server_name: "no" }],
      400,
      "tools[0].mcp_server_name",
    ],
  ])("refuses %s", async (_name, server, tools, status, message) => {
    await expect(create(stream, body("hello", server, { tools: tools as never }))).rejects.toMatchObject({
      status,
      message: expect.stringContaining(message),
    });
  });

  test("refuses a call that exceeds the budget", async () => {
    const headers = { authorization: `Bearer ${service.adminKey}` };
    const url = "/v1/organization/spend_limit";
    const payload = { threshold_amount: 1, currency: "USD", interval: "month" };
    expect((await service.inject({ method: "POST", url, headers, payload })).statusCode).toBe(200);
    try {
      await expect(create(stream, body("add;"))).rejects.toThrow(/spend|budget|quota/i);
    } finally {
      await service.inject({ method: "DELETE", url, headers });
    }
  });
});

test("streams the blocks of a call in the order of Anthropic's API", async () => {
  const events: string[] = [];
  for await (const event of client.beta.messages.stream(body("add;"))) {
    const block = event.type === "content_block_start" ? ` ${event.content_block.type}` : "";
    const delta = event.type === "content_block_delta" ? ` ${event.delta.type}` : "";
    const position = "index" in event ? ` ${event.index}` : "";
    events.push(`${event.type}${position}${block}${delta}`);
  }

  expect(events.filter((event, index) => event !== events[index - 1])).toEqual([
    "message_start",
    "content_block_start 0 mcp_tool_use",
    "content_block_delta 0 input_json_delta",
    "content_block_stop 0",
    "content_block_start 1 mcp_tool_result",
    "content_block_stop 1",
    "content_block_start 2 text",
    "content_block_delta 2 text_delta",
    "content_block_stop 2",
    "message_delta",
    "message_stop",
  ]);
});
