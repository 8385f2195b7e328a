/** WebSockets of the Responses API, through the official client, on the scripted engine and upstreams. */

import OpenAI from "openai";
import { ResponsesWS } from "openai/resources/responses/ws";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { eventually } from "../support/service/eventually.ts";
import { type InProcessService, startService } from "../support/service/service.ts";
import { startServiceProcess } from "../support/service/service-process.ts";

type Create = OpenAI.Responses.ResponsesClientEvent.ResponseCreate;
// biome-ignore lint/suspicious/noExplicitAny: events and answers have the fields of their type.
type Any = any;

const AGENT = `
  - id: agent
    task: chat
    deployments:
      - engine: scripted
        context_window: 1000000
        abilities: { tools: true, reasoning: true }
        replies:
          - { match: weather, match_tool: sunny, text: "It is sunny." }
          - { match: weather, reasoning: "I have to ask.", tool_calls: [{ name: weather, arguments: { city: Paris } }] }
          - { match: breaks, text: "one two three", fail_after_tokens: 2, fail_with: { kind: upstream-failed, message: "Down." } }
          - { match: slow, text: "${"word ".repeat(200)}", delay_ms_per_token: 20 }
        echo: true`;

let far: InProcessService;
let service: InProcessService;
beforeAll(async () => {
  far = await startService({ config: `models: ${AGENT}` });
  const upstream = `engine: openai-compatible, base_url: "${far.origin}/v1", api_key: ${far.apiKey}, model: agent`;
  service = await startService({
    config: `
responses: { max_connections_per_project: 4 }
models: ${AGENT}
  - { id: by-chat, task: chat, deployments: [{ ${upstream}, abilities: { tools: true } }] }
  - { id: by-responses, task: chat, deployments: [{ ${upstream}, abilities: { responses: true } }] }
`,
  });
});
afterAll(() => Promise.all([service?.stop(), far?.stop()]));

/** A connection of the official client that keeps its events. */
class Connection {
  readonly ws: ResponsesWS;
  readonly events: Any[] = [];
  readonly closed: Promise<{ code: number; reason: string }>;
  #seen = 0;

  constructor(apiKey = service.apiKey, at: { baseUrl: string } = service) {
    this.ws = new ResponsesWS(new OpenAI({ apiKey, baseURL: at.baseUrl, maxRetries: 0 }), { reconnect: null });
    this.ws.on("event", (event) => void this.events.push(event));
    this.ws.on("error", () => {});
    this.closed = new Promise((resolve) => this.ws.on("close", (code, reason) => resolve({ code, reason })));
  }

  create(request: Omit<Create, "type">): void {
    this.ws.send({ type: "response.create", ...request });
  }

  /** Resolves with the next event of one of these types, after those that earlier calls returned. */
  async next(...types: string[]): Promise<Any> {
    const isEnd = ({ type }: Any, at: number) => at >= this.#seen && [...types, "error"].includes(type);
    await eventually(() => expect(this.events.some(isEnd), JSON.stringify(this.events.at(-1))).toBe(true));
    this.#seen = this.events.findIndex(isEnd) + 1;
    const match = this.events[this.#seen - 1];
    expect(types, JSON.stringify(match)).toContain(match.type);
    return match;
  }

  async ask(request: Omit<Create, "type">): Promise<Any> {
    this.create(request);
    const { response } = await this.next("response.completed");
    return response;
  }

  async fail(request: object): Promise<Any> {
    this.ws.sendRaw(JSON.stringify(request));
    return this.next("error");
  }
}

const open: Connection[] = [];
afterEach(async () => {
  const ended = open.splice(0);
  for (const each of ended) each.ws.close();
  await Promise.all(ended.map(({ closed }) => closed));
});
function connect(apiKey?: string, at?: { baseUrl: string }): Connection {
  const connection = new Connection(apiKey, at);
  open.push(connection);
  return connection;
}

async function administer(method: string, path: string, body?: object, at = service): Promise<Any> {
  const response = await fetch(`${at.origin}/v1/organization${path}`, {
    method,
    headers: { authorization: `Bearer ${at.adminKey}`, "content-type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  });
  return response.json();
}

async function newProject(name: string): Promise<{ id: string; key: string; keyId: string }> {
  const { id } = await administer("POST", "/projects", { name });
  const { api_key: key } = await administer("POST", `/projects/${id}/service_accounts`, { name: "Bot" });
  return { id, key: key.value, keyId: key.id };
}

const tools: Create["tools"] = [{ type: "function", name: "weather", parameters: { type: "object" }, strict: false }];

describe.each(["agent", "by-chat", "by-responses"])("with %s", (model) => {
  test("sends the events that a stream has", async () => {
    const connection = connect();
    const response = await connection.ask({ model, input: "One two three" });
    expect(response).toMatchObject({ status: "completed", store: true, previous_response_id: null });
    const client = service.client({ maxRetries: 0 });
    const events = await Array.fromAsync(
      await client.responses.create({ model, input: "One two three", stream: true }),
    );
    expect(connection.events.map(({ type }) => type)).toEqual(events.map(({ type }) => type));
    expect(connection.events.map(Object.keys)).toEqual(events.map(Object.keys));
  });

  test("continues a stored response and one that is not", async () => {
    const connection = connect();
    for (const store of [true, false]) {
      const first = await connection.ask({ model, input: "What is the weather?", tools, store });
      expect(first.store).toBe(store);
      const call = first.output.find(({ type }: Any) => type === "function_call");
      const output = { type: "function_call_output" as const, call_id: call.call_id, output: "sunny" };
      const second = await connection.ask({ model, input: [output], tools, store, previous_response_id: first.id });
      expect(second.output[0].content[0].text).toBe("It is sunny.");
      expect(second).toMatchObject({ previous_response_id: first.id, store });
      expect(second.usage.input_tokens).toBeGreaterThan(first.usage.input_tokens);
      const third = await connection.ask({ model, input: "Thanks", store, previous_response_id: second.id });
      expect(third.usage.input_tokens).toBeGreaterThan(second.usage.input_tokens);
    }
  });

  test("reports a failure in the middle of an answer", async () => {
    const connection = connect();
    connection.create({ model, input: "breaks", stream_id: "a" });
    const end = await connection.next("error", "response.failed");
    expect(end).toMatchObject({ stream_id: "a" });
    if (end.type === "error") expect(end).toMatchObject({ status: 500, error: { code: expect.any(String) } });
    else expect(end.response).toMatchObject({ status: "failed", error: { message: expect.any(String) } });
  });
});

const model = "agent";

test("continues a stored response by one that is not, and the other way round", async () => {
  const connection = connect();
  const stored = await connection.ask({ model, input: "One" });
  const second = await connection.ask({ model, input: "Two", store: false, previous_response_id: stored.id });
  const third = await connection.ask({ model, input: "Three", store: false, previous_response_id: second.id });
  const fourth = await connection.ask({ model, input: "Four", previous_response_id: third.id });
  const sizes = [stored, second, third, fourth].map(({ usage }) => usage.input_tokens);
  expect(sizes).toEqual([...sizes].sort((a, b) => a - b));
  expect(new Set(sizes).size).toBe(4);
  expect(fourth).toMatchObject({ store: true, previous_response_id: third.id });
  const client = service.client({ maxRetries: 0 });
  const fifth = await client.responses.create({ model, input: "Five", previous_response_id: fourth.id });
  expect(fifth.usage?.input_tokens).toBeGreaterThan(sizes[3]);
});

test("keeps what is not stored to its connection, and the latest of each stream", async () => {
  const connection = connect();
  const first = await connection.ask({ model, input: "One", store: false });
  const fork = await connection.ask({
    model,
    input: "Two",
    store: false,
    stream_id: "b",
    previous_response_id: first.id,
  });
  expect(fork.usage.input_tokens).toBeGreaterThan(first.usage.input_tokens);
  const second = await connection.ask({ model, input: "Two", store: false, previous_response_id: first.id });
  const stale = { type: "response.create", model, input: "Three", store: false, previous_response_id: first.id };
  expect((await connection.fail(stale)).error).toMatchObject({ code: "previous_response_not_found" });
  const third = await connection.ask({ model, input: "Three", store: false, previous_response_id: second.id });
  const stranger = connect();
  const stolen = { ...stale, previous_response_id: third.id };
  expect(await stranger.fail(stolen)).toMatchObject({
    status: 404,
    error: { code: "previous_response_not_found", param: "previous_response_id" },
  });
  const client = service.client({ maxRetries: 0 });
  await expect(client.responses.retrieve(third.id)).rejects.toMatchObject({ status: 404 });
});

test("prepares a response that generates nothing", async () => {
  const connection = connect();
  for (const input of [[], "A long instruction of the agent"] as const) {
    const prepared = await connection.ask({
      model,
      input: input as Any,
      generate: false,
      store: false,
      instructions: "Be brief.",
    });
    expect(prepared).toMatchObject({ status: "completed", output: [], usage: { total_tokens: 0 } });
    const next = await connection.ask({ model, input: "Hi", store: false, previous_response_id: prepared.id });
    expect(next).toMatchObject({ previous_response_id: prepared.id, output: [{ content: [{ text: "Hi" }] }] });
    expect(next.usage.input_tokens).toBeGreaterThan(input.length === 0 ? 0 : 5);
  }
  // Large bodies are parsed in another thread.
  const large = await connection.ask({ model, input: "x".repeat(1_500_000), generate: false, store: false });
  const after = await connection.ask({ model, input: "Hi", store: false, previous_response_id: large.id });
  expect(after.usage.input_tokens).toBeGreaterThan(100_000);
  const unknown = { type: "response.create", model: "nothing", input: "Hi", generate: false };
  expect((await connection.fail(unknown)).error.code).toBe("model_not_found");
});

test("runs streams side by side and the requests of one in their order", async () => {
  const connection = connect();
  connection.create({ model, input: "slow", stream_id: "slow" });
  connection.create({ model, input: "Afterwards", stream_id: "slow" });
  connection.create({ model, input: "Fast", stream_id: "fast" });
  connection.create({ model, input: "Default" });
  const ends = [];
  for (let count = 0; count < 4; count += 1) ends.push(await connection.next("response.completed"));
  expect(
    ends
      .slice(0, 2)
      .map((end) => end.stream_id)
      .sort(),
  ).toEqual(["fast", undefined]);
  expect(ends.slice(2).map(({ stream_id }) => stream_id)).toEqual(["slow", "slow"]);
  expect(ends[3].response.output[0].content[0].text).toBe("Afterwards");
  const lanes = connection.events.filter(({ stream_id }) => stream_id === "slow");
  expect(lanes.map(({ type }) => type).indexOf("response.completed")).toBeLessThan(
    lanes.map(({ type }) => type).lastIndexOf("response.created"),
  );
});

test("names the limits of streams and events", async () => {
  const connection = connect();
  for (const stream_id of ["", "a b", "x".repeat(257), 7]) {
    const event = { type: "response.create", model, input: "Hi", stream_id };
    expect(await connection.fail(event)).toMatchObject({ status: 400, error: { code: "invalid_stream_id" } });
  }
  for (let index = 0; index < 32; index += 1) connection.create({ model, input: "Hi", stream_id: `lane-${index}` });
  const further = { type: "response.create", model, input: "Hi", stream_id: "lane-32" };
  expect(await connection.fail(further)).toMatchObject({
    stream_id: "lane-32",
    error: { code: "websocket_stream_limit_reached" },
  });
  const ended = () => connection.events.filter(({ type }) => type === "response.completed").length;
  await eventually(() => expect(ended()).toBe(32));
  for (const [event, error] of [
    [{ type: "response.create", model, input: "Hi", background: true }, { param: "background" }],
    [{ type: "response.create", model, input: "Hi", generate: "no" }, { param: "generate" }],
    [{ type: "response.create", model, input: 7 }, { param: "input" }],
    [{ type: "response.create", model, input: 7, previous_response_id: "resp_1" }, { param: "input" }],
    [
      { type: "response.create", model, input: "Hi", previous_response_id: "r", conversation: "c" },
      { param: "conversation" },
    ],
    [{ type: "session.update" }, { param: "type" }],
    [[], { type: "invalid_request_error" }],
    [null, { type: "invalid_request_error" }],
  ] as const) {
    expect((await connection.fail(event as object)).error).toMatchObject(error);
  }
  connection.ws.sendRaw("{");
  expect((await connection.next("error")).error.code).toBe("invalid_json");
  connection.ws.sendRaw(Buffer.from("{}") as Any);
  expect((await connection.next("error")).error.code).toBe("invalid_json");
});

test("answers what clients of other services send", async () => {
  const connection = connect();
  connection.ws.sendRaw(JSON.stringify({ type: "response.processed", response_id: "resp_1" }));
  connection.ws.sendRaw(JSON.stringify({ type: "response.steer", previous_response_id: "resp_1", input: "Stop" }));
  expect(await connection.next("response.steer.failed")).toMatchObject({
    steer: { previous_response_id: "resp_1", input: "Stop" },
    error: { code: "steering_not_supported" },
  });
  expect((await connection.ask({ model, input: "Hi", stream: false } as Any)).status).toBe("completed");
  expect(connection.events.filter(({ type }) => type === "error")).toEqual([]);
});

test("refuses a connection without a key, without a WebSocket, and beyond the project's limit", async () => {
  const url = `${service.baseUrl.replace("http:", "ws:")}/responses`;
  const status = (headers: Record<string, string>) =>
    new Promise<number | undefined>((resolve) => {
      const socket = new WebSocket(url, { headers });
      socket.on("unexpected-response", (_request, { statusCode }) => resolve(statusCode));
      socket.on("error", () => {});
    });
  expect(await status({ authorization: "Bearer sk-wrong" })).toBe(401);
  expect(await status({})).toBe(401);
  expect(await status({ authorization: `Bearer ${service.adminKey}` })).toBe(401);
  expect(await status({ authorization: `Bearer ${service.apiKey}`, origin: "https://evil.example" })).toBe(403);
  expect((await service.fetch("/v1/responses")).status).toBe(400);
  const { key } = await newProject("Crowded");
  const connections = Array.from({ length: 4 }, () => connect(key));
  for (const each of connections) expect((await each.ask({ model, input: "Hi" })).status).toBe("completed");
  const fifth = connect(key);
  expect(await fifth.next("error")).toMatchObject({ status: 429, error: { code: "too_many_connections" } });
  expect(await fifth.closed).toEqual({ code: 1013, reason: "too_many_connections" });
});

test("counts, limits, guards and records each request as one over HTTP", async () => {
  const project = await newProject("Careful");
  await administer("POST", `/projects/${project.id}/recording`, { record_content: "all" });
  await administer("POST", `/projects/${project.id}/guardrails`, {
    guardrails: [{ type: "words", words: ["bluebird"], on: ["input"] }],
  });
  const connection = connect(project.key);
  const first = await connection.ask({ model, input: "Good day", store: false });
  await connection.ask({ model, input: "Good night", store: false, previous_response_id: first.id });
  const blocked = { type: "response.create", model, input: "A bluebird", stream_id: "x" };
  expect(await connection.fail(blocked)).toMatchObject({ status: 400, stream_id: "x" });
  await eventually(async () => {
    const { data } = await administer("GET", `/requests?project_ids[]=${project.id}`);
    expect(data.map(({ operation, status }: Any) => [operation, status])).toEqual([
      ["responses", 400],
      ["responses", 200],
      ["responses", 200],
    ]);
    const { content } = await administer("GET", `/requests/${data[1].id}?include[]=content`);
    const said = content.input_messages.map(({ parts }: Any) => parts[0].content);
    expect(said).toEqual(["Good day", "Good day", "Good night"]);
  });
  const { data: limits } = await administer("GET", `/projects/${project.id}/rate_limits`);
  const limit = limits.find((each: Any) => each.model === model);
  await administer("POST", `/projects/${project.id}/rate_limits/${limit.id}`, { max_requests_per_1_minute: 1 });
  let failure: Any;
  await eventually(async () => {
    connection.create({ model, input: "Again" });
    const end = await connection.next("error", "response.completed");
    expect(end.type).toBe("error");
    failure = end;
  });
  expect(failure).toMatchObject({ status: 429, error: { headers: { "retry-after": expect.any(String) } } });
});

test("ends with its key, at the next request", async () => {
  const project = await newProject("Ending");
  const connection = connect(project.key);
  await connection.ask({ model, input: "Hi" });
  await administer("DELETE", `/projects/${project.id}/api_keys/${project.keyId}`);
  connection.create({ model, input: "Hi again" });
  expect(await connection.next("error")).toMatchObject({ status: 401, error: { code: "invalid_api_key" } });
  expect((await connection.closed).code).toBe(1008);
});

test("stops the responses of a client that leaves", async () => {
  const project = await newProject("Leaving");
  const connection = connect(project.key);
  connection.create({ model, input: "slow" });
  connection.create({ model, input: "Never asked" });
  await connection.next("response.output_text.delta");
  connection.ws.close();
  await connection.closed;
  await eventually(async () => {
    const { data } = await administer("GET", `/requests?project_ids[]=${project.id}`);
    expect(data.map(({ status }: Any) => status)).toEqual([499]);
  });
});

test("without storage, continues what the connection has and refuses the rest", async () => {
  const bare = await startService({
    config: `responses: { store: false, max_connection_seconds: 1 }\nmodels: ${AGENT}`,
  });
  try {
    const connection = connect(bare.apiKey, bare);
    const first = await connection.ask({ model, input: "One" });
    const second = await connection.ask({ model, input: "Two", previous_response_id: first.id });
    expect(second.usage.input_tokens).toBeGreaterThan(first.usage.input_tokens);
    const unknown = { type: "response.create", model, input: "Three", previous_response_id: "resp_other" };
    expect((await connection.fail(unknown)).error.code).toBe("previous_response_not_found");
    connection.create({ model, input: "slow" });
    expect((await connection.next("response.completed")).response.status).toBe("completed");
    expect((await connection.next("error")).error.code).toBe("websocket_connection_limit_reached");
    expect((await connection.closed).code).toBe(1008);
  } finally {
    await bare.stop();
  }
});

test("lets responses finish when the service stops, and passes through workers", async () => {
  const stopping = await startServiceProcess({
    config: `builtin_models: false\nserver: { workers: 2 }\nmodels: ${AGENT}`,
    environment: { PARLANCE_ENCRYPTION_KEY: "k".repeat(40) },
  });
  const [idle, busy] = [connect(stopping.apiKey, stopping), connect(stopping.apiKey, stopping)];
  await idle.ask({ model, input: "Hi" });
  busy.create({ model, input: "slow" });
  await busy.next("response.output_text.delta");
  const stopped = stopping.stop();
  expect((await idle.next("error")).error.code).toBe("server_is_overloaded");
  expect((await idle.closed).code).toBe(1001);
  expect((await busy.next("response.completed")).response.status).toBe("completed");
  expect((await busy.closed).code).toBe(1001);
  expect(await stopped).toBe(0);
});
