/** Deferred tools and the searches that load them, in Responses and in Messages, with the official clients. */

import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startMcpServer, type TestMcpServer } from "../support/mcp/mcp-server.ts";
import { type InProcessService, startService } from "../support/service/service.ts";

let mcp: TestMcpServer;
let far: InProcessService;
let service: InProcessService;
let openai: OpenAI;
let anthropic: Anthropic;

/** The scripted model calls tools that the request has, so a call of a hidden tool is left out. */
const AGENT = `
  - id: agent
    task: chat
    deployments:
      - engine: scripted
        abilities: { tools: true }
        replies:
          - { match_tool: "sum 3", text: "It is three." }
          - { match_tool: "/No tool matches/", text: "Nothing." }
          - { match_tool: "blocked by the guardrail", text: "It was refused." }
          - { match_tool: "/regular expression|characters/", text: "It failed." }
          - match_tool: "/from now on: .*weather/"
            tool_calls: [{ name: crm__weather, arguments: { city: Paris } }, { name: get_weather, arguments: { city: Paris } }]
          - { match_tool: "/from now on: .*add/", tool_calls: [{ name: math__add, arguments: { a: 1, b: 2 } }] }
          - match: "weather"
            tool_calls:
              - { name: get_weather, arguments: { city: Rome } }
              - { name: crm__weather, arguments: { city: Rome } }
              - { name: tool_search, arguments: { query: weather forecast of a city } }
              - { name: tool_search_tool_bm25, arguments: { query: weather forecast of a city } }
              - { name: tool_search_tool_regex, arguments: { pattern: "(?i)FORE.*city" } }
          - match: "add"
            tool_calls:
              - { name: math__add, arguments: { a: 1, b: 2 } }
              - { name: tool_search, arguments: { query: add numbers } }
              - { name: tool_search_tool_bm25, arguments: { query: add numbers } }
          - { match: "nothing", tool_calls: [{ name: tool_search, arguments: { query: zebra } }] }
          - { match: "broken", tool_calls: [{ name: tool_search_tool_regex, arguments: { pattern: "(" } }] }
          - { match: "too long", tool_calls: [{ name: tool_search, arguments: { query: "${"x".repeat(1001)}" } }] }
          - { text: "No tool." }`;

beforeAll(async () => {
  mcp = await startMcpServer("stateless");
  far = await startService({ config: `builtin_models: false\nmodels: ${AGENT}` });
  const upstream = `engine: openai-compatible, base_url: "${far.origin}/v1", api_key: ${far.apiKey}, model: agent`;
  service = await startService({
    config: `
builtin_models: false
usage: { labels: { tools: true } }
mcp_servers:
  - { name: math, url: "${mcp.url}" }
models: ${AGENT}
  - { id: by-chat, task: chat, deployments: [{ ${upstream} }] }
  - { id: by-responses, task: chat, deployments: [{ ${upstream}, abilities: { responses: true } }] }
  - { id: by-messages, task: chat, deployments: [{ ${upstream}, abilities: { messages: true } }] }
`,
  });
  openai = new OpenAI({ apiKey: service.apiKey, baseURL: `${service.origin}/v1`, maxRetries: 0 });
  anthropic = new Anthropic({ apiKey: service.apiKey, baseURL: service.origin, maxRetries: 0 });
});
afterAll(async () => {
  await Promise.all([service?.stop(), far?.stop(), mcp?.close()]);
});
beforeEach(() => {
  mcp.requests.length = 0;
});

const parameters = { type: "object", properties: { city: { type: "string", description: "Name of the city" } } };
const FORECAST = "Returns the forecast for tomorrow in a city";
const weather = (fields: object = {}): OpenAI.Responses.FunctionTool => ({
  ...{ type: "function", name: "get_weather", description: FORECAST, strict: false, parameters, defer_loading: true },
  ...fields,
});
const others = Array.from({ length: 30 }, (_, index) =>
  weather({ name: `send_${index}`, description: "Sends a fax", parameters: { type: "object", properties: {} } }),
);
const SEARCH = { type: "tool_search" } as const;

type Request = OpenAI.Responses.ResponseCreateParamsNonStreaming;

async function respond(stream: boolean, input: Request["input"], fields: Partial<Request> = {}) {
  const request = { model: "agent", input, tools: [...others, weather(), SEARCH], ...fields };
  if (!stream) return openai.responses.create(request);
  return openai.responses.stream({ ...request, stream: true } as never).finalResponse();
}

const typesOf = ({ output }: OpenAI.Responses.Response) => output.map(({ type }) => type);

describe.each([false, true])("Responses, streamed: %s", (stream) => {
  test.each(["agent", "by-chat", "by-responses"])("load a function, which the model %s then calls", async (model) => {
    const response = await respond(stream, "weather", { model });

    const [search, result, call] = response.output;
    expect(search).toMatchObject({ type: "tool_search_call", execution: "server", call_id: null, status: "completed" });
    expect(search).toMatchObject({ arguments: { query: "weather forecast of a city" } });
    expect(result).toMatchObject({ type: "tool_search_output", execution: "server", call_id: null });
    expect((result as OpenAI.Responses.ResponseToolSearchOutputItem).tools).toEqual([weather()]);
    expect(call).toMatchObject({ type: "function_call", name: "get_weather", arguments: '{"city":"Paris"}' });
    expect(response.output).toHaveLength(3);
  });

  test("load a function of a namespace, whose calls name it", async () => {
    const crm = {
      type: "namespace" as const,
      name: "crm",
      description: "Customers",
      tools: [weather({ name: "weather" })],
    };
    const response = await respond(stream, "weather", { tools: [...others, crm as never, SEARCH] });

    expect(response.output[1]).toMatchObject({ tools: [{ ...crm, tools: [{ name: "weather" }] }] });
    expect(response.output[2]).toMatchObject({ type: "function_call", name: "weather", namespace: "crm" });
  });

  test("load a tool of a server, which runs here", async () => {
    const math = {
      type: "mcp" as const,
      server_label: "math",
      require_approval: "never" as const,
      defer_loading: true,
    };
    const response = await respond(stream, "add", { tools: [math, SEARCH] });

    const types = ["mcp_list_tools", "tool_search_call", "tool_search_output", "mcp_call", "message"];
    expect(typesOf(response)).toEqual(types);
    expect(response.output[2]).toMatchObject({ tools: [{ type: "namespace", name: "math" }] });
    expect(response.output_text).toBe("It is three.");
  });

  test("keep loaded what an earlier response has found", async () => {
    const first = await respond(stream, "weather");
    const answered = { type: "function_call_output", output: "no such place" } as const;
    const call = first.output[2] as OpenAI.Responses.ResponseFunctionToolCall;
    const input = [
      { ...answered, call_id: call.call_id },
      { role: "user", content: "weather" },
    ] as Request["input"];
    const next = await respond(stream, input, { previous_response_id: first.id });

    expect(next.output[0]).toMatchObject({ type: "function_call", name: "get_weather" });
  });

  test("answer where nothing matches, and where the query is too long", async () => {
    expect((await respond(stream, "nothing")).output_text).toBe("Nothing.");
    const failed = await respond(stream, "too long");
    expect(failed.output[0]).toMatchObject({ type: "tool_search_call", status: "incomplete" });
    expect(failed.output_text).toBe("It failed.");
  });

  test("let the caller search among tools that the request does not have", async () => {
    const search = {
      type: "tool_search" as const,
      execution: "client" as const,
      description: "Finds tools",
      parameters,
    };
    const first = await respond(stream, "weather", { tools: [weather(), search] });
    const [call] = first.output as [OpenAI.Responses.ResponseToolSearchCall];
    expect(first.output).toHaveLength(1);
    expect(call).toMatchObject({ type: "tool_search_call", execution: "client", status: "completed" });
    expect(call.call_id).toMatch(/^call_/);

    const found = weather({ name: "get_weather" });
    const output = { type: "tool_search_output" as const, call_id: call.call_id, execution: "client" as const };
    const input = [{ ...output, tools: [found] }];
    const next = await respond(stream, input, { tools: [search], previous_response_id: first.id });
    expect(next.output).toMatchObject([{ type: "function_call", name: "get_weather" }]);
  });
});

test("defers nothing without a search, and says so", async () => {
  const request = { model: "agent", input: "weather", tools: [weather()] };
  const { data, response } = await openai.responses.create(request).withResponse();
  expect(typesOf(data)).toEqual(["function_call"]);
  expect(response.headers.get("x-parlance-ignored-fields")).toBe("tools[].defer_loading");
});

test("counts searches among the calls that a response may make", async () => {
  const response = await respond(false, "weather", { max_tool_calls: 1 });
  expect(typesOf(response)).toEqual(["tool_search_call", "tool_search_output", "function_call"]);
  const none = await respond(false, "weather", { tool_choice: { type: "function", name: "get_weather" } });
  expect(none.output[0]).toMatchObject({ type: "function_call", arguments: '{"city":"Rome"}' });
});

test("counts the tokens of shown tools alone", async () => {
  const count = async (tools: Request["tools"]) =>
    (await openai.responses.inputTokens.count({ model: "by-chat", input: "weather", tools })).input_tokens;
  const deferred = await count([...others, weather(), SEARCH]);
  expect(deferred).toBeLessThan((await count(others.map(({ defer_loading: _, ...tool }) => tool))) / 5);
});

describe("with the policies of a project", () => {
  // biome-ignore lint/suspicious/noExplicitAny: answers have the fields of their type.
  const administer = async (method: string, path: string, body?: object): Promise<any> => {
    const headers = { authorization: `Bearer ${service.adminKey}`, "content-type": "application/json" };
    const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
    return (await service.fetch(`/v1/organization${path}`, init)).json();
  };
  const guard = async (...guardrails: object[]) => {
    const [project] = (await administer("GET", "/projects")).data;
    await administer("POST", `/projects/${project.id}/guardrails`, { guardrails });
    return project.id as string;
  };
  afterEach(() => guard());

  test("refuses a search whose words a guardrail blocks, and goes on", async () => {
    await guard({ type: "words", words: ["forecast of a city"], on: ["input"] });
    const response = await respond(false, "weather");
    expect(response.output[0]).toMatchObject({ type: "tool_search_call", status: "incomplete" });
    expect(response.output[1]).toMatchObject({ type: "tool_search_output", tools: [] });
    expect(response.output_text).toBe("It was refused.");
  });

  test("records the search with the request, bills its turns once and erases it with the response", async () => {
    const id = await guard();
    await administer("POST", `/projects/${id}/recording`, { record_content: "all" });
    const { data, response } = await openai.responses
      .create({ model: "agent", input: "weather", tools: [...others, weather(), SEARCH] })
      .withResponse();
    const request = response.headers.get("x-request-id");
    await expect.poll(async () => (await administer("GET", `/requests/${request}`)).recorded).toBe(true);
    const entry = await administer("GET", `/requests/${request}?include[]=content`);
    expect(entry.input_tokens).toBe(data.usage?.input_tokens);
    expect(JSON.stringify(entry.content)).toContain("weather forecast of a city");
    const stored = await openai.responses.retrieve(data.id);
    expect(typesOf(stored)).toEqual(["tool_search_call", "tool_search_output", "function_call"]);
    await openai.responses.delete(data.id);
    await expect(openai.responses.retrieve(data.id)).rejects.toMatchObject({ status: 404 });
    const next = openai.responses.create({ model: "agent", input: "Hi", previous_response_id: data.id });
    await expect(next).rejects.toMatchObject({ code: "previous_response_not_found" });
  });
});

type Body = Anthropic.MessageCreateParamsNonStreaming;
const BM25 = { type: "tool_search_tool_bm25_20251119", name: "tool_search_tool_bm25" } as const;
const REGEX = { type: "tool_search_tool_regex_20251119", name: "tool_search_tool_regex" } as const;
const toMessagesTool = ({
  name,
  description,
  parameters: schema,
  defer_loading,
}: OpenAI.Responses.FunctionTool): Anthropic.Tool => ({
  ...{ name, description: description ?? "", input_schema: schema as Anthropic.Tool.InputSchema },
  ...(defer_loading !== undefined && { defer_loading }),
});
const deferredTools = [...others, weather()].map(toMessagesTool);

async function message(stream: boolean, content: string, fields: Partial<Body> = {}) {
  const messages = [{ role: "user" as const, content }];
  const body: Body = { model: "agent", max_tokens: 100, messages, tools: [...deferredTools, BM25], ...fields };
  return stream ? anthropic.messages.stream(body).finalMessage() : anthropic.messages.create(body);
}

describe.each([false, true])("Messages, streamed: %s", (stream) => {
  test.each([
    ["agent", BM25],
    ["agent", REGEX],
    ["by-chat", BM25],
    ["by-messages", REGEX],
  ])("load a tool, which the model %s then calls", async (model, search) => {
    const answer = await message(stream, "weather", { model, tools: [...deferredTools, search] });

    const [use, result, call] = answer.content as [Anthropic.ServerToolUseBlock, ...Anthropic.ContentBlock[]];
    expect(use).toMatchObject({ type: "server_tool_use", name: search.name });
    expect(Object.keys(use.input as object)).toEqual([search === REGEX ? "pattern" : "query"]);
    const references = [{ type: "tool_reference", tool_name: "get_weather" }];
    expect(result).toMatchObject({
      type: "tool_search_tool_result",
      tool_use_id: use.id,
      content: { type: "tool_search_tool_search_result", tool_references: references },
    });
    expect(call).toMatchObject({ type: "tool_use", name: "get_weather", input: { city: "Paris" } });
    expect(answer.stop_reason).toBe("tool_use");
  });

  test("keep loaded what an earlier message refers to", async () => {
    const first = await message(stream, "weather");
    const use = first.content[2] as Anthropic.ToolUseBlock;
    const answered = { type: "tool_result" as const, tool_use_id: use.id, content: "no such place" };
    const messages: Anthropic.MessageParam[] = [
      { role: "user", content: "weather" },
      { role: "assistant", content: first.content as Anthropic.ContentBlockParam[] },
      { role: "user", content: [answered, { type: "text", text: "weather" }] },
    ];
    const next = await message(stream, "", { messages });
    expect(next.content[0]).toMatchObject({ type: "tool_use", name: "get_weather" });
  });

  test("load the tools that a result of the client's own search refers to", async () => {
    const own = toMessagesTool(weather({ name: "own_search", defer_loading: undefined }));
    const tools = [...deferredTools, own];
    const hidden = await message(stream, "weather", { tools });
    expect(hidden.content).toMatchObject([{ type: "text" }]);

    const result = { type: "tool_reference" as const, tool_name: "get_weather" };
    const messages: Anthropic.MessageParam[] = [
      { role: "user", content: "weather" },
      { role: "assistant", content: [{ type: "tool_use", id: "toolu_1", name: "own_search", input: {} }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: [result] }] },
    ];
    const next = await message(stream, "", { messages, tools });
    expect(next.content).toMatchObject([{ type: "tool_use", name: "get_weather", input: { city: "Paris" } }]);
  });

  test("say that a pattern is no regular expression", async () => {
    const answer = await message(stream, "broken", { tools: [...deferredTools, REGEX] });
    const content = { type: "tool_search_tool_result_error", error_code: "invalid_tool_input" };
    expect(answer.content[1]).toMatchObject({ type: "tool_search_tool_result", content });
    expect(answer.content[2]).toMatchObject({ type: "text", text: "It failed." });
  });

  test("load a tool of a toolset that defers its tools", async () => {
    const body: Anthropic.Beta.MessageCreateParamsNonStreaming = {
      ...{ model: "agent", max_tokens: 100, messages: [{ role: "user", content: "add" }] },
      betas: ["mcp-client-2025-11-20"],
      mcp_servers: [{ type: "url", name: "math", url: "" }],
      tools: [{ type: "mcp_toolset", mcp_server_name: "math", default_config: { defer_loading: true } }, BM25],
    };
    const answer = stream
      ? await anthropic.beta.messages.stream(body).finalMessage()
      : await anthropic.beta.messages.create(body);
    const types = ["server_tool_use", "tool_search_tool_result", "mcp_tool_use", "mcp_tool_result", "text"];
    expect(answer.content.map(({ type }) => type)).toEqual(types);
  });
});
