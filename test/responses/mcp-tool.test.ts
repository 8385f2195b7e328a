/** `mcp` in Responses with the official client, against servers of the SDK in both eras of the protocol. */

import OpenAI from "openai";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { serviceFunctionName } from "../../src/wire/responses/responses-tools.ts";
import { LONG_NAME, type McpEra, startMcpServer, type TestMcpServer } from "../support/mcp/mcp-server.ts";
import { type InProcessService, startService } from "../support/service/service.ts";

const CALLS = ["fail", "image", "huge", "large", "die", "ask", "docs.read", LONG_NAME];

interface Running {
  service: InProcessService;
  mcp: TestMcpServer;
  client: OpenAI;
}

async function start(era: McpEra): Promise<Running> {
  const mcp = await startMcpServer(era);
  const call = (name: string, input = "{}") =>
    `{ match: "use ${name};", tool_calls: [{ name: ${serviceFunctionName(name, "math")}, arguments: ${input} }] }`;
  const service = await startService({
    config: `
builtin_models: false
mcp: { caller_servers: public }
mcp_servers:
  - { name: math, url: "${mcp.url}", headers: { x-token: operator-secret }, price_per_call: "0.5" }
  - { name: slow, url: "${mcp.url}", timeout_seconds: 1 }
  - { name: personal, url: "${mcp.url}", caller_authorization: true }
  - { name: careful, url: "${mcp.url}", require_approval: always }
  - { name: other, url: "${mcp.url}", access: [{ projects: [proj_of_others] }] }
  - { name: few, url: "${mcp.url}", access: [{ tools: [add] }] }
  - { name: down, url: "http://127.0.0.1:9/mcp" }
models:
  - id: agent
    task: chat
    deployments:
      - engine: scripted
        abilities: { tools: true }
        replies:
          - { match_tool: "sum 3", text: "It is three." }
          - { match_tool: "did not approve", text: "Then not." }
          - { match_tool: "/^/", text: "Done." }
          - ${["math", "careful", "few", "personal"].map((label) => `{ match: "add with ${label}", tool_calls: [{ name: ${label}__add, arguments: { a: 1, b: 2 } }] }`).join("\n          - ")}
          - { match: "use both;", tool_calls: [{ name: math__add, arguments: { a: 1, b: 2 } }, { name: math__fail, arguments: {} }] }
          - ${CALLS.map((name) => call(name)).join("\n          - ")}
          - { match: "use hang;", tool_calls: [{ name: slow__hang, arguments: {} }] }
          - { text: "No tool." }
`,
  });
  const client = new OpenAI({ apiKey: service.apiKey, baseURL: `${service.origin}/v1`, maxRetries: 0 });
  return { service, mcp, client };
}

type Mcp = OpenAI.Responses.Tool.Mcp;
type Body = OpenAI.Responses.ResponseCreateParamsNonStreaming;

function body(input: string, tool: Partial<Mcp> = {}, fields: Partial<Body> = {}): Body {
  const mcp: Mcp = { type: "mcp", server_label: "math", require_approval: "never", ...tool };
  return { model: "agent", input, tools: [mcp], ...fields };
}

const typesOf = ({ output }: OpenAI.Responses.Response) => output.map(({ type }) => type as string);
const callOf = ({ output }: OpenAI.Responses.Response) =>
  output.find(({ type }) => type === "mcp_call") as OpenAI.Responses.ResponseItem.McpCall;

describe.each<McpEra>(["sessions", "stateless"])("with a server of the era: %s", (era) => {
  let running: Running;
  beforeAll(async () => {
    running = await start(era);
  });
  afterAll(async () => {
    await running?.service.stop();
    await running?.mcp.close();
  });
  beforeEach(() => {
    running.mcp.requests.length = 0;
  });
  const create = (request: Body) => running.client.responses.create(request);

  test("lists the tools, runs the call and answers", async () => {
    const response = await create(body("add with math"));

    expect(typesOf(response)).toEqual(["mcp_list_tools", "mcp_call", "message"]);
    const [list] = response.output as OpenAI.Responses.ResponseItem.McpListTools[];
    expect(list?.tools.map(({ name }) => name)).toContain(LONG_NAME);
    expect(list?.tools[0]).toMatchObject({
      name: "add",
      description: "Adds two numbers",
      input_schema: { type: "object" },
    });
    expect(callOf(response)).toMatchObject({
      status: "completed",
      name: "add",
      server_label: "math",
      arguments: '{"a":1,"b":2}',
      output: "sum 3",
      error: null,
    });
    expect(response.output_text).toBe("It is three.");
    expect(response.tools).toEqual([{ type: "mcp", server_label: "math", require_approval: "never" }]);
  });

  test("sends the operator's headers and never the caller's key", async () => {
    await create(body("add with math"));

    const sent = running.mcp.requests.map(({ headers }) => headers);
    expect(sent.length).toBeGreaterThan(0);
    expect(sent.every((headers) => headers["x-token"] === "operator-secret")).toBe(true);
    expect(JSON.stringify(sent)).not.toContain(running.service.apiKey);
  });

  test("streams the events of OpenAI's schema in their order", async () => {
    const stream = await running.client.responses.create({ ...body("add with math"), stream: true });
    const types: string[] = [];
    for await (const event of stream) if (event.type.includes("mcp") || "item" in event) types.push(event.type);

    expect(types.filter((type) => type !== "response.mcp_call_arguments.delta")).toEqual([
      "response.output_item.added",
      "response.mcp_list_tools.in_progress",
      "response.mcp_list_tools.completed",
      "response.output_item.done",
      "response.output_item.added",
      "response.mcp_call.in_progress",
      "response.mcp_call_arguments.done",
      "response.mcp_call.completed",
      "response.output_item.done",
      "response.output_item.added",
      "response.output_item.done",
    ]);
  });

  test("waits for an approval, runs the approved call and does not list the tools again", async () => {
    const asked = await create(body("add with math", { require_approval: "always" }));
    expect(typesOf(asked)).toEqual(["mcp_list_tools", "mcp_approval_request"]);
    const request = asked.output[1] as OpenAI.Responses.ResponseItem.McpApprovalRequest;
    expect(request).toMatchObject({ name: "add", server_label: "math", arguments: '{"a":1,"b":2}' });
    expect(running.mcp.requests.some(({ method }) => method === "tools/call")).toBe(false);

    const approve = { type: "mcp_approval_response", approval_request_id: request.id, approve: true } as const;
    const approved = await create(
      body("", { require_approval: "always" }, { input: [approve], previous_response_id: asked.id }),
    );
    expect(typesOf(approved)).toEqual(["mcp_call", "message"]);
    expect(callOf(approved)).toMatchObject({ output: "sum 3", approval_request_id: request.id });
    expect(approved.output_text).toBe("It is three.");

    const next = await create(body("hello", {}, { previous_response_id: approved.id }));
    expect(typesOf(next)).toEqual(["message"]);
  });

  test("runs an approved call from items that the caller sends", async () => {
    const asked = await create(body("add with math", { require_approval: "always" }, { store: false }));
    const request = asked.output[1] as OpenAI.Responses.ResponseItem.McpApprovalRequest;
    const approve = { type: "mcp_approval_response", approval_request_id: request.id, approve: true } as const;
    const input = [{ role: "user", content: "add with math" } as const, ...asked.output, approve];
    const approved = await create(body("", {}, { input: input as never, store: false }));

    expect(callOf(approved)).toMatchObject({ output: "sum 3", approval_request_id: request.id });
  });

  test("tells the model that the caller did not approve", async () => {
    const asked = await create(body("add with math", { require_approval: { never: { tool_names: ["fail"] } } }));
    const [, request] = asked.output as OpenAI.Responses.ResponseItem.McpApprovalRequest[];
    const refuse = { type: "mcp_approval_response", approval_request_id: request?.id ?? "", approve: false } as const;
    const refused = await create(body("", {}, { input: [refuse], previous_response_id: asked.id }));

    expect(typesOf(refused)).toEqual(["message"]);
    expect(refused.output_text).toBe("Then not.");
  });

  test("asks for the approval that the operator requires", async () => {
    const asked = await create(body("add with careful", { server_label: "careful", require_approval: "never" }));

    expect(typesOf(asked)).toEqual(["mcp_list_tools", "mcp_approval_request"]);
  });

  // A server of 2025 knows that the client has no such capability.
  const ASKS =
    era === "stateless"
      ? { type: "mcp_protocol_error", message: expect.stringContaining("elicitation") }
      : { type: "mcp_tool_execution_error", content: [{ type: "text", text: expect.stringContaining("elicitation") }] };

  test.each([
    ["fail", { type: "mcp_tool_execution_error", content: [{ type: "text", text: "no such page" }] }],
    ["large", { type: "mcp_protocol_error", message: expect.stringContaining("the limit is 1048576") }],
    ["huge", { type: "mcp_protocol_error", message: expect.stringContaining("the limit for its answers") }],
    ["hang", { type: "mcp_protocol_error", message: "It did not answer within 1 seconds." }],
    ["die", { type: "mcp_protocol_error" }],
    ["ask", ASKS],
  ])("names the failure of a tool that misbehaves in its item: %s", async (name, error) => {
    const response = await create(body(`use ${name};`, { server_label: name === "hang" ? "slow" : "math" }));

    expect(callOf(response)).toMatchObject({ name, status: "failed", output: null, error });
    expect(response.status).toBe("completed");
    expect(response.output_text).toBe("Done.");
  });

  test("runs the other calls of a turn when one fails", async () => {
    const response = await create(body("use both;"));

    const calls = response.output.filter(({ type }) => type === "mcp_call");
    expect(calls).toMatchObject([{ output: "sum 3" }, { status: "failed" }]);
  });

  test("names an image that a model cannot read", async () => {
    const response = await create(body("use image;"));

    expect(callOf(response).output).toBe("[image of the type image/png, 300 bytes, which is not passed on]\na picture");
  });

  test.each([LONG_NAME, "docs.read"])("maps a name that models do not accept: %s", async (name) => {
    const response = await create(body(`use ${name};`));

    expect(callOf(response)).toMatchObject({ name, status: "completed" });
  });

  test("offers the allowed tools only", async () => {
    const response = await create(body("use docs.read;", { allowed_tools: { read_only: true } }));
    const [list] = response.output as OpenAI.Responses.ResponseItem.McpListTools[];

    expect(list?.tools.map(({ name }) => name)).toEqual(["add"]);
    const few = await create(body("add with few", { server_label: "few" }));
    expect(few.output[0]).toMatchObject({ tools: [{ name: "add" }] });
    expect(callOf(few).output).toBe("sum 3");
  });

  test("sends a caller's own token where the operator permits it", async () => {
    await create(body("add with personal", { server_label: "personal", authorization: "my-token" }));

    const call = running.mcp.requests.find(({ method }) => method === "tools/call");
    expect(call?.headers.authorization).toBe("Bearer my-token");
  });

  test("refuses a call that exceeds the budget, and records those that ran", async () => {
    const { service } = running;
    const headers = { authorization: `Bearer ${service.adminKey}` };
    const costs = async () => {
      const from = Math.floor(Date.now() / 1000) - 86_400;
      const url = `/v1/organization/costs?start_time=${from}&group_by=line_item&limit=2`;
      const { data } = (await service.inject({ url, headers })).json() as {
        data: { results: { line_item: string; amount: { value: number } }[] }[];
      };
      return data.flatMap(({ results }) => results).filter(({ line_item: item }) => item.startsWith("mcp/math"));
    };
    await expect.poll(costs).not.toEqual([]);
    // The request history has the calls in the cost of their response.
    const history = (await service.inject({ url: "/v1/organization/requests?limit=100", headers })).json() as {
      data: { operation: string; cost_usd: number | null }[];
    };
    expect(history.data).toContainEqual(expect.objectContaining({ operation: "responses", cost_usd: 0.5 }));
    const limit = { threshold_amount: 1, currency: "USD", interval: "month" };
    const set = await service.inject({ method: "POST", url: "/v1/organization/spend_limit", headers, payload: limit });
    expect(set.statusCode).toBe(200);

    const refused = create(body("add with math"));
    await expect(refused).rejects.toMatchObject({ code: "insufficient_quota" });
    await service.inject({ method: "DELETE", url: "/v1/organization/spend_limit", headers });
  });
});

describe("requests", () => {
  let running: Running;
  beforeAll(async () => {
    running = await start("stateless");
  });
  afterAll(async () => {
    await running?.service.stop();
    await running?.mcp.close();
  });

  test.each<[string, Partial<Mcp>, number, string]>([
    ["a server that does not exist", { server_label: "unknown" }, 400, "no MCP server 'unknown'"],
    ["a server of another project", { server_label: "other" }, 403, "may not use the MCP server 'other'"],
    ["a server that does not answer", { server_label: "down" }, 502, "could not be reached"],
    ["an internal address", { server_url: "http://127.0.0.1:8080/mcp" }, 502, "address is not public"],
    ["an address that is not one", { server_url: "ftp://x" }, 400, "plain http"],
    ["headers for the operator's server", { headers: { a: "b" } }, 400, "leave out 'headers'"],
    ["a token for the operator's server", { authorization: "t" }, 400, "leave out 'authorization'"],
    ["a connector", { connector_id: "connector_gmail" }, 400, "does not have the tool 'mcp'"],
  ])("refuses %s", async (_name, tool, status, message) => {
    const refused = running.client.responses.create(body("hello", tool));

    await expect(refused).rejects.toMatchObject({ status, message: expect.stringContaining(message) });
  });

  test("refuses an approval of a request that is not there", async () => {
    const approve = { type: "mcp_approval_response", approval_request_id: "mcpr_1", approve: true } as const;

    await expect(running.client.responses.create(body("", {}, { input: [approve] }))).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining("no approval request 'mcpr_1'"),
    });
  });

  test("counts tokens of a request with a server", async () => {
    const { client } = running;
    const tools = [{ type: "mcp", server_label: "math" }] as never;

    expect(
      (await client.responses.inputTokens.count({ model: "agent", input: "hello", tools })).input_tokens,
    ).toBeGreaterThan(0);
  });

  test("shows no secret of the request in the response", async () => {
    const tool = { server_label: "personal", authorization: "my-token" };
    const response = await running.client.responses.create(body("hello", tool));

    expect(JSON.stringify(response)).not.toContain("my-token");
  });
});

describe("a model of an upstream", () => {
  let upstream: Running;
  let service: InProcessService;
  let client: OpenAI;
  beforeAll(async () => {
    upstream = await start("sessions");
    const { service: far, mcp } = upstream;
    const deployment = `engine: openai-compatible, base_url: "${far.origin}/v1", api_key: ${far.apiKey}, model: agent`;
    service = await startService({
      config: `
builtin_models: false
mcp_servers: [{ name: math, url: "${mcp.url}" }]
models:
  - { id: by-chat, task: chat, deployments: [{ ${deployment} }] }
  - { id: by-responses, task: chat, deployments: [{ ${deployment}, abilities: { responses: true } }] }
`,
    });
    client = new OpenAI({ apiKey: service.apiKey, baseURL: `${service.origin}/v1`, maxRetries: 0 });
  });
  afterAll(async () => {
    await service?.stop();
    await upstream?.service.stop();
    await upstream?.mcp.close();
  });

  test.each(["by-chat", "by-responses"])("calls a server of the operator here: %s", async (model) => {
    const response = await client.responses.create({ ...body("add with math"), model });

    expect(typesOf(response)).toEqual(["mcp_list_tools", "mcp_call", "message"]);
    expect(response.output_text).toBe("It is three.");
    expect(response.usage?.output_tokens).toBeGreaterThan(0);
  });

  test("refuses servers that the request names by their address, unless an upstream may run them", async () => {
    const create = (model: string, tool: Partial<Mcp>) => client.responses.create({ ...body("hello", tool), model });
    const tool = { server_label: "theirs", server_url: "http://127.0.0.1:8080/mcp" };

    // An internal address is not passed on either.
    await expect(create("by-responses", tool)).rejects.toMatchObject({ status: 400, param: "tools[0].server_url" });
    const connector = { server_label: "theirs", connector_id: "connector_gmail" as const };
    await expect(create("by-chat", connector)).rejects.toMatchObject({ status: 400, param: "tools[0].type" });
    // The upstream's own refusal: it is another Parlance.
    await expect(create("by-responses", connector)).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining("does not have the tool 'mcp'"),
    });
  });
});
