/** MCP tools in Realtime sessions, with OpenAI's client, against servers of the SDK. */

import OpenAI from "openai";
import { OpenAIRealtimeWS } from "openai/realtime/ws";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startMcpServer, type TestMcpServer } from "../support/mcp/mcp-server.ts";
import { type InProcessService, startService } from "../support/service/service.ts";
import { startTlsProxy, type TlsProxy } from "../support/upstreams/tls-proxy.ts";

type ServerEvent = OpenAI.Realtime.RealtimeServerEvent;
type Tool = Partial<OpenAI.Realtime.RealtimeToolsConfigUnion.Mcp>;

let mcp: TestMcpServer;
let far: InProcessService;
let service: InProcessService;
let proxy: TlsProxy;

beforeAll(async () => {
  mcp = await startMcpServer("sessions");
  const agent = `
  - id: agent
    task: chat
    deployments:
      - engine: scripted
        abilities: { tools: true }
        replies:
          - { match_tool: "sum 3", text: "It is three." }
          - { match_tool: "no such page", text: "It failed." }
          - { match_tool: "did not approve", text: "Then not." }
          - { match: "add;", tool_calls: [{ name: math__add, arguments: { a: 1, b: 2 } }] }
          - { match: "fail;", tool_calls: [{ name: math__fail, arguments: {} }] }
          - { text: "No tool." }`;
  far = await startService({ config: `builtin_models: false\nmodels: ${agent}` });
  service = await startService({
    config: `
builtin_models: false
mcp_servers:
  - { name: math, url: "${mcp.url}", headers: { x-token: operator-secret }, price_per_call: "0.5" }
  - { name: personal, url: "${mcp.url}", caller_authorization: true }
  - { name: other, url: "${mcp.url}", access: [{ projects: [proj_of_others] }] }
  - { name: down, url: "http://127.0.0.1:9/mcp" }
models: ${agent}
  - id: upstream
    task: chat
    deployments:
      - { engine: openai-compatible, base_url: "${far.origin}/v1", api_key: ${far.apiKey}, model: agent }
  - { id: speaks, task: speech, deployments: [{ engine: scripted, speech: {} }] }
  - { id: hears, task: transcription, deployments: [{ engine: scripted, replies: [{ text: "Hi" }] }] }
`,
  });
  proxy = await startTlsProxy(service.origin);
});
afterAll(async () => {
  proxy?.close();
  await Promise.all([service?.stop(), far?.stop(), mcp?.close()]);
});
beforeEach(() => {
  mcp.requests.length = 0;
});

class Session {
  readonly #socket: OpenAIRealtimeWS;
  readonly events: ServerEvent[] = [];
  #read = 0;
  #wake = () => {};

  constructor(model: string) {
    const client = new OpenAI({ apiKey: service.apiKey, baseURL: `${proxy.origin}/v1` });
    this.#socket = new OpenAIRealtimeWS({ model, options: { rejectUnauthorized: false } }, client);
    this.#socket.on("event", (event) => {
      this.events.push(event);
      this.#wake();
    });
    // Error events arrive as events too.
    this.#socket.on("error", () => {});
  }

  async next<Type extends ServerEvent["type"]>(type: Type): Promise<Extract<ServerEvent, { type: Type }>> {
    for (;;) {
      while (this.#read < this.events.length) {
        const event = this.events[this.#read] as ServerEvent;
        this.#read += 1;
        if (event.type === type) return event as Extract<ServerEvent, { type: Type }>;
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  async update(tool: Tool = {}): Promise<void> {
    await this.next("session.created");
    this.replace(tool);
  }

  replace(tool: Tool): void {
    const mcpTool = { type: "mcp" as const, server_label: "math", require_approval: "never" as const, ...tool };
    // Without the detection of speech, whose model takes time to load.
    const audio = { input: { turn_detection: null } } as never;
    const session = { type: "realtime" as const, output_modalities: ["text" as const], audio, tools: [mcpTool] };
    this.#socket.send({ type: "session.update", session });
  }

  say(text: string): void {
    const content = [{ type: "input_text" as const, text }];
    this.create({ type: "message", role: "user", content });
    this.respond();
  }

  create(item: OpenAI.Realtime.ConversationItem): void {
    this.#socket.send({ type: "conversation.item.create", item });
  }

  respond(response: OpenAI.Realtime.RealtimeResponseCreateParams = {}): void {
    this.#socket.send({ type: "response.create", response });
  }

  async output(): Promise<OpenAI.Realtime.ConversationItem[]> {
    return (await this.next("response.done")).response.output ?? [];
  }

  close(): void {
    this.#socket.close();
  }
}

const textOf = (items: OpenAI.Realtime.ConversationItem[]) => JSON.stringify(items.at(-1));

/** Responses of sessions in the request history. */
async function history(): Promise<object[]> {
  const headers = { authorization: `Bearer ${service.adminKey}` };
  const url = "/v1/organization/requests?operations=realtime&limit=100";
  return (await service.inject({ url, headers })).json<{ data: object[] }>().data;
}

let session: Session;
const open = (model = "agent") => {
  session = new Session(model);
  return session;
};

describe.each(["agent", "upstream"])("with the model %s", (model) => {
  test("lists the tools, runs a call and answers in one response", async () => {
    await open(model).update();
    const added = await session.next("conversation.item.added");
    expect(added.item).toMatchObject({ type: "mcp_list_tools", server_label: "math", tools: [] });
    await session.next("mcp_list_tools.in_progress");
    const listed = await session.next("conversation.item.done");
    expect(listed.item).toMatchObject({ tools: expect.arrayContaining([expect.objectContaining({ name: "add" })]) });
    await session.next("mcp_list_tools.completed");

    session.say("add;");
    const output = await session.output();
    expect(output).toMatchObject([
      { type: "mcp_call", name: "add", server_label: "math", arguments: '{"a":1,"b":2}', output: "sum 3", error: null },
      { type: "message", role: "assistant" },
    ]);
    expect(textOf(output)).toContain("It is three.");
    expect(mcp.requests.every(({ headers }) => headers["x-token"] === "operator-secret")).toBe(true);
    expect(JSON.stringify(mcp.requests)).not.toContain(service.apiKey);
    session.close();
  });
});

test("lists the tools of a new configuration after those of the one before", async () => {
  open();
  await session.update({});
  session.replace({ authorization: "secret", server_label: "personal" });
  const listed = [await session.next("mcp_list_tools.completed"), await session.next("mcp_list_tools.completed")];
  const of = (index: number, type: string) =>
    session.events.findIndex(
      (event) => event.type === type && "item_id" in event && event.item_id === listed[index]?.item_id,
    );
  expect(of(0, "mcp_list_tools.completed")).toBeLessThan(of(1, "mcp_list_tools.in_progress"));
  session.close();
});

test("sends the events of a call in the order of OpenAI's API", async () => {
  await open().update();
  await session.next("mcp_list_tools.completed");
  session.say("add;");
  await session.output();

  const types = session.events
    .map(({ type }) => type)
    .filter((type) => /mcp_call|output_item|response\.(created|done)/.test(type));
  expect(types.filter((type) => type !== "response.mcp_call_arguments.delta")).toEqual([
    "response.created",
    "response.output_item.added",
    "response.mcp_call.in_progress",
    "response.mcp_call_arguments.done",
    "response.mcp_call.completed",
    "response.output_item.done",
    "response.output_item.added",
    "response.output_item.done",
    "response.done",
  ]);
  session.close();
});

test("is in the request history with all of its turns", async () => {
  await open().update();
  await session.next("mcp_list_tools.completed");
  session.say("add;");
  const { usage } = (await session.next("response.done")).response;
  session.close();
  const entry = { status: 200, attempts: 2, input_tokens: usage?.input_tokens, output_tokens: usage?.output_tokens };
  await expect.poll(history).toContainEqual(expect.objectContaining(entry));
});

test("waits for an approval, and runs the approved call with the next response", async () => {
  await open().update({ require_approval: "always" });
  session.say("add;");
  const [request] = (await session.output()) as [OpenAI.Realtime.RealtimeMcpApprovalRequest];
  expect(request).toMatchObject({ type: "mcp_approval_request", name: "add", arguments: '{"a":1,"b":2}' });
  expect(mcp.requests.some(({ method }) => method === "tools/call")).toBe(false);

  session.create({ type: "mcp_approval_response", id: "ok", approval_request_id: request.id, approve: true });
  session.respond();
  const output = await session.output();
  expect(output[0]).toMatchObject({ type: "mcp_call", output: "sum 3", approval_request_id: request.id });
  expect(textOf(output)).toContain("It is three.");
  session.close();
});

test("tells the model that the caller did not approve", async () => {
  await open().update({ require_approval: "always" });
  session.say("add;");
  const [request] = (await session.output()) as [OpenAI.Realtime.RealtimeMcpApprovalRequest];
  session.create({ type: "mcp_approval_response", id: "no", approval_request_id: request.id, approve: false });
  session.respond();
  expect(textOf(await session.output())).toContain("Then not.");
  session.close();
});

test("names the error of a tool in its item", async () => {
  await open().update();
  session.say("fail;");
  const [call] = await session.output();

  expect(call).toMatchObject({ output: null, error: { type: "tool_execution_error", message: "no such page" } });
  expect(session.events.map(({ type }) => type)).toContain("response.mcp_call.failed");
  session.close();
});

test("offers the tools of one response, and the one that its choice names", async () => {
  await open().next("session.created");
  session.create({ type: "message", role: "user", content: [{ type: "input_text", text: "add;" }] });
  session.respond({
    output_modalities: ["text"],
    tools: [{ type: "mcp", server_label: "math", require_approval: "never", allowed_tools: ["add"] }],
    tool_choice: { type: "mcp", server_label: "math", name: "add" },
  });
  const [list, call] = await session.output();

  expect(list).toMatchObject({ type: "mcp_list_tools", tools: [{ name: "add" }] });
  expect(call).toMatchObject({ type: "mcp_call", output: "sum 3" });
  session.close();
});

test("sends the caller's token where the operator permits it, and does not show it", async () => {
  await open().update({ server_label: "personal", authorization: "my-token" });
  await session.next("mcp_list_tools.completed");

  expect(mcp.requests.some(({ headers }) => headers.authorization === "Bearer my-token")).toBe(true);
  expect(JSON.stringify(session.events)).not.toContain("my-token");
  session.close();
});

test("reports a server that does not list its tools", async () => {
  await open().update({ server_label: "down" });
  const failed = await session.next("mcp_list_tools.failed");
  expect(failed).toMatchObject({ error: { message: expect.stringContaining("could not be reached") } });

  session.say("add;");
  const { response } = await session.next("response.done");
  expect(response).toMatchObject({ status: "failed", status_details: { error: { code: "mcp_server_failed" } } });
  await expect.poll(history).toContainEqual(expect.objectContaining({ status: 502, error: "mcp_server_failed" }));
  session.close();
});

test.each<[string, Tool, string]>([
  ["a server that does not exist", { server_label: "unknown" }, "no MCP server 'unknown'"],
  ["an address", { server_label: "x", server_url: "https://mcp.example.com" }, "mcp.caller_servers"],
  ["a connector", { server_label: "x", connector_id: "connector_gmail" }, "no MCP server"],
])("refuses %s", async (_name, tool, message) => {
  await open().update(tool);
  const { error } = await session.next("error");

  expect(error).toMatchObject({
    message: expect.stringContaining(message),
    param: expect.stringContaining("session.tools[0]"),
  });
  session.close();
});

test("refuses a server of another project", async () => {
  await open().update({ server_label: "other" });
  const failed = await session.next("mcp_list_tools.failed");

  expect(failed).toMatchObject({ error: { message: expect.stringContaining("may not use the MCP server 'other'") } });
  session.close();
});

test("ends a response whose call exceeds the budget", async () => {
  const headers = { authorization: `Bearer ${service.adminKey}` };
  const url = "/v1/organization/spend_limit";
  const payload = { threshold_amount: 1, currency: "USD", interval: "month" };
  await service.inject({ method: "POST", url, headers, payload });
  try {
    await open().update();
    session.say("add;");
    const { response } = await session.next("response.done");
    expect(response).toMatchObject({ status: "failed", status_details: { error: { code: "insufficient_quota" } } });
  } finally {
    await service.inject({ method: "DELETE", url, headers });
    session.close();
  }
});
