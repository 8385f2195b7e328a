/** The tool `web_search` of responses, with a server that answers as SearXNG and endpoints of operators do. */

import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import Anthropic from "@anthropic-ai/sdk";
import type OpenAI from "openai";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { eventually } from "../support/service/eventually.ts";
import { type Service, startService } from "../support/service/service.ts";
import { administrator } from "../support/service/team-services.ts";

interface Received {
  method: string | undefined;
  url: URL;
  authorization: string | undefined;
  body: string;
}

let received: Received[] = [];
let failure: number | undefined;
let isSilent = false;
const PAGES = [
  { url: "https://tides.example/spring", title: "Spring tides", content: "A spring tide follows the new moon." },
  { url: "https://moon.example/", title: "The moon", content: "It pulls the sea.", engine: "any" },
  { url: "javascript:alert(1)", title: "Bad", content: "Bad" },
  { url: "https://sub.tides.example/neap", title: null, content: null },
];
const engine = createServer(async (request: IncomingMessage, response) => {
  const url = new URL(request.url ?? "", "http://engine");
  const { authorization } = request.headers;
  received.push({ method: request.method, url, authorization, body: await text(request) });
  if (isSilent) return;
  response.statusCode = failure ?? 200;
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify({ query: url.searchParams.get("q"), results: PAGES, unresponsive_engines: [] }));
});

const call = `{ name: web_search, arguments: { query: spring tide } }`;
const configOf = (url: string, kind: string) => `
builtin_models: false
web_search: { engine: ${kind}, url: "${url}", api_key: secret-key, price_per_call: "0.25" }
models:
  - id: agent
    task: chat
    deployments:
      - engine: scripted
        abilities: { tools: true, continuation: true }
        replies:
          - { match_tool: "/does not answer/", text: "I could not search." }
          - { match_tool: "/no results/", text: "Nothing." }
          - { match_tool: "/new moon/", text: "After the new moon【w1】." }
          - { match: "tide", tool_calls: [${call}] }
          - { text: "No tool." }
`;

let services: Service[];
let client: OpenAI;
let endpoint: OpenAI;
beforeAll(async () => {
  await new Promise<void>((listening) => engine.listen(0, "127.0.0.1", listening));
  const url = `http://127.0.0.1:${(engine.address() as AddressInfo).port}`;
  services = await Promise.all(["searxng", "endpoint"].map((kind) => startService({ config: configOf(url, kind) })));
  const clients = services.map((service) => service.client({ maxRetries: 0 }));
  [client, endpoint] = clients as [OpenAI, OpenAI];
});
afterAll(async () => {
  await Promise.all((services ?? []).map((service) => service.stop()));
  engine.closeAllConnections();
  engine.close();
});
beforeEach(() => {
  received = [];
  failure = undefined;
  isSilent = false;
});

function body(tool: object = {}, fields: object = {}) {
  return {
    model: "agent",
    input: "When is the tide high?",
    tools: [{ type: "web_search" as const, ...tool }],
    ...fields,
  };
}

test("searches and cites pages by their addresses", async () => {
  const include = ["web_search_call.action.sources" as const];
  const response = await client.responses.create(body({}, { include }));
  expect(response.output.map(({ type }) => type)).toEqual(["web_search_call", "message"]);
  expect(response.output[0]).toMatchObject({
    status: "completed",
    action: {
      type: "search",
      query: "spring tide",
      sources: [PAGES[0], PAGES[1], PAGES[3]].map((page) => ({ type: "url", url: page?.url })),
    },
  });
  const answer = "After the new moon【w1】.";
  expect(response.output_text).toBe(answer);
  const start_index = answer.indexOf("【");
  const citation = {
    type: "url_citation",
    url: PAGES[0]?.url,
    title: "Spring tides",
    start_index,
    end_index: start_index + 4,
  };
  expect(response.output[1]).toMatchObject({ content: [{ annotations: [citation] }] });
  const [request] = received;
  expect(request).toMatchObject({ method: "GET", authorization: "Bearer secret-key" });
  expect(Object.fromEntries(request?.url.searchParams ?? [])).toEqual({ q: "spring tide", format: "json" });
});

test("streams the events of the search", async () => {
  const stream = await client.responses.create({ ...body(), stream: true });
  const types: string[] = [];
  for await (const { type } of stream) types.push(type);
  expect(types.filter((type) => type.includes("web_search_call"))).toEqual(
    ["in_progress", "searching", "completed"].map((state) => `response.web_search_call.${state}`),
  );
});

test("leaves out pages of other domains, and takes the types of earlier years", async () => {
  const filters = { allowed_domains: ["moon.example"] };
  const include = ["web_search_call.action.sources" as const];
  const filtered = await client.responses.create(body({ filters, search_context_size: "low" }, { include }));
  expect(filtered.output[0]).toMatchObject({ action: { sources: [{ url: "https://moon.example/" }] } });
  const nothing = await client.responses.create(body({ filters: { allowed_domains: ["other.example"] } }));
  expect(nothing.output_text).toBe("Nothing.");
  const preview = await client.responses.create(body({ type: "web_search_preview" }));
  expect(preview.output[0]).toMatchObject({ type: "web_search_call", status: "completed" });
});

test("sends an endpoint of the operator the query and the place of the user", async () => {
  const user_location = { type: "approximate", city: "Bremen", country: "DE" };
  const response = await endpoint.responses.create(body({ user_location }));
  expect(response.output_text).toBe("After the new moon【w1】.");
  expect(received[0]?.method).toBe("POST");
  expect(JSON.parse(received[0]?.body ?? "")).toEqual({ query: "spring tide", max_results: 6, user_location });
});

test("tells the model when the engine fails, without its address", async () => {
  failure = 502;
  const response = await client.responses.create(body());
  expect(response.output[0]).toMatchObject({ type: "web_search_call", status: "failed" });
  expect(response.output_text).toBe("I could not search.");
});

test("refuses what it cannot do, and goes on from a stored search", async () => {
  const refused: [object, string][] = [
    [{ external_web_access: false }, "tools[0].external_web_access"],
    [{ search_context_size: "huge" }, "tools[0].search_context_size"],
    [{ return_token_budget: 3 }, "tools[0].return_token_budget"],
  ];
  for (const [tool, param] of refused) {
    await expect(client.responses.create(body(tool) as never)).rejects.toMatchObject({ status: 400, param });
  }
  const first = await client.responses.create(body());
  const next = await client.responses.create({ model: "agent", input: "Thanks", previous_response_id: first.id });
  expect(next.output_text).toBe("No tool.");
});

test("times the first token of the text, which follows the search, not that of the call", async () => {
  const [service] = services as [Service];
  const { request_id: id } = await client.responses.create(body()).withResponse();
  const read = async () => {
    const headers = { authorization: `Bearer ${service.adminKey}` };
    return fetch(`${service.baseUrl}/organization/requests/${id}`, { headers });
  };
  // History is written a little later.
  await expect.poll(async () => (await read()).status).toBe(200);
  const { first_token_ms: firstTokenMs, stages } = (await (await read()).json()) as {
    first_token_ms: number;
    stages: { type: string; start_ms: number; duration_ms: number }[];
  };
  expect(stages.map(({ type }) => type)).toEqual(["turn", "tool", "turn"]);
  const [first, search] = stages;
  const searchedMs = (search?.start_ms ?? 0) + (search?.duration_ms ?? 0);
  // Tokens are timed from the first turn on, stages from the request's arrival. All are rounded to milliseconds.
  expect(firstTokenMs).toBeGreaterThanOrEqual(searchedMs - (first?.start_ms ?? 0) - 2);
});

test("bills each search at its price", async () => {
  await client.responses.create(body());
  const [service] = services as [Service];
  const start_time = Math.floor(Date.now() / 1000) - 86_400;
  const costs = async () => {
    const page = await administrator(service).usage.costs({ start_time, group_by: ["line_item"] });
    const items = page.data.flatMap(({ results }) => results as { line_item?: string; amount?: { value?: number } }[]);
    return items
      .filter(({ line_item: item }) => item?.startsWith("web_search"))
      .map(({ amount }) => Number(amount?.value));
  };
  await expect.poll(costs).toEqual([expect.any(Number)]);
  expect(((await costs())[0] ?? 0) % 0.25).toBe(0);
});

const searchingChat = (fields: object = {}) => ({
  model: "agent",
  messages: [{ role: "user" as const, content: "When is the tide high?" }],
  web_search_options: fields,
});

test("searches for a chat with web_search_options, and cites the pages", async () => {
  const { choices, usage } = await client.chat.completions.create(searchingChat());
  const { message, finish_reason: reason } = choices[0] as (typeof choices)[number];
  expect([message.content, reason, choices.length]).toEqual(["After the new moon【w1】.", "stop", 1]);
  const citation = { url: PAGES[0]?.url, title: "Spring tides", start_index: 18, end_index: 22 };
  expect(message.annotations).toEqual([{ type: "url_citation", url_citation: citation }]);
  expect(message.tool_calls).toBeUndefined();
  // Both turns.
  expect(usage?.completion_tokens).toBeGreaterThan(8);
  expect(received).toHaveLength(1);
});

test("streams the chat, with the citations in a chunk", async () => {
  const stream = client.chat.completions.stream({ ...searchingChat(), stream_options: { include_usage: true } });
  const { choices, usage } = await stream.finalChatCompletion();
  expect(choices[0]?.message.content).toBe("After the new moon【w1】.");
  expect(usage?.total_tokens).toBeGreaterThan(0);
  const chunks = await Array.fromAsync(await client.chat.completions.create({ ...searchingChat(), stream: true }));
  const deltas = chunks.flatMap(
    ({ choices: [choice] }) => (choice?.delta as { annotations?: object[] } | undefined)?.annotations ?? [],
  );
  expect(deltas).toMatchObject([{ url_citation: { title: "Spring tides" } }]);
  expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe("stop");
});

test("searches near the user of a chat, also for a model that need not", async () => {
  const approximate = { city: "Bremen", country: "DE" };
  const options = { search_context_size: "low", user_location: { type: "approximate", approximate } };
  await endpoint.chat.completions.create(searchingChat(options));
  const user_location = { type: "approximate", ...approximate };
  expect(JSON.parse(received[0]?.body ?? "")).toEqual({ query: "spring tide", max_results: 3, user_location });
});

test("leaves the caller's own tools to the caller, and refuses what a chat with a search cannot have", async () => {
  const tools = [{ type: "function" as const, function: { name: "lookup", parameters: {} } }];
  const { choices } = await client.chat.completions.create({ ...searchingChat(), tools });
  expect(choices[0]?.message.content).toBe("After the new moon【w1】.");
  const refused: [object, string][] = [
    [{ n: 2 }, "n"],
    [{ web_search_options: { search_context_size: "huge" } }, "web_search_options.search_context_size"],
    [
      { web_search_options: { user_location: { type: "approximate", approximate: { city: 3 } } } },
      "web_search_options.user_location.approximate.city",
    ],
  ];
  for (const [fields, param] of refused) {
    const asking = client.chat.completions.create({ ...searchingChat(), ...fields } as never);
    await expect(asking).rejects.toMatchObject({ status: 400, param });
  }
});

test("counts the places of citations from a beginning that the answer repeats", async () => {
  const messages = [...searchingChat().messages, { role: "assistant" as const, content: "High: ", prefix: true }];
  const { choices } = await client.chat.completions.create({ ...searchingChat(), messages } as never);
  const { message } = choices[0] as (typeof choices)[number];
  const [{ url_citation: place } = {}] = message.annotations ?? [];
  expect(message.content).toBe("High: After the new moon【w1】.");
  expect(message.content?.slice(place?.start_index, place?.end_index)).toBe("【w1】");
});

test("logs what the model has written for a client that leaves during a search", async () => {
  isSilent = true;
  const [service] = services as [Service];
  const leaving = new AbortController();
  const asking = client.chat.completions.create(searchingChat(), { signal: leaving.signal }).catch(() => undefined);
  await eventually(() => expect(received).toHaveLength(1));
  leaving.abort();
  await asking;
  await eventually(() => {
    const logged = service.log().findLast(({ msg }) => msg === "request");
    expect(logged).toMatchObject({ status: 499, outcome: "client-left", answeredBy: "agent", promptTokens: 6 });
  });
});

const anthropic = () => {
  const [service] = services as [Service];
  return new Anthropic({ baseURL: service.origin, apiKey: service.apiKey, maxRetries: 0 });
};
const webSearch = (fields: object = {}) => ({ type: "web_search_20250305", name: "web_search", ...fields }) as const;
const askFor = (tool: object, fields: object = {}) =>
  ({
    ...{ model: "agent", max_tokens: 100, tools: [tool] },
    messages: [{ role: "user", content: "When is the tide high?" }],
    ...fields,
  }) as Anthropic.MessageCreateParamsNonStreaming;

test.each([false, true])("runs Anthropic's web_search in Messages, streamed: %s", async (isStreamed) => {
  const { messages } = anthropic();
  const message = isStreamed
    ? await messages.stream(askFor(webSearch())).finalMessage()
    : await messages.create(askFor(webSearch()));
  const [use, result, text] = message.content as [
    Anthropic.ServerToolUseBlock,
    Anthropic.WebSearchToolResultBlock,
    Anthropic.TextBlock,
  ];
  expect(message.content).toHaveLength(3);
  expect(use).toMatchObject({ type: "server_tool_use", name: "web_search", input: { query: "spring tide" } });
  expect(result).toMatchObject({ type: "web_search_tool_result", tool_use_id: use.id });
  expect(result.content).toMatchObject([
    { type: "web_search_result", url: "https://tides.example/spring" },
    { url: "https://moon.example/" },
    { url: "https://sub.tides.example/neap" },
  ]);
  expect(text).toMatchObject({ text: "After the new moon【w1】." });
  expect(text.citations).toMatchObject([{ type: "web_search_result_location", title: "Spring tides" }]);
  expect(message.usage.server_tool_use).toMatchObject({ web_search_requests: 1 });
  expect(message.stop_reason).toBe("end_turn");
  const next = await messages.create(
    askFor(webSearch(), {
      messages: [
        { role: "user", content: "When is the tide high?" },
        { role: "assistant", content: message.content },
        { role: "user", content: "Thanks." },
      ],
    }),
  );
  expect(next.content).toMatchObject([{ type: "text", text: "No tool." }]);
});

test("honors the domains, the limit and the choice of Anthropic's web_search", async () => {
  const { messages } = anthropic();
  const urlsOf = async (fields: object) => {
    const { content } = await messages.create(askFor(webSearch(fields)));
    const result = content.find(({ type }) => type === "web_search_tool_result") as Anthropic.WebSearchToolResultBlock;
    return (result.content as { url: string }[]).map(({ url }) => url);
  };
  expect(await urlsOf({ allowed_domains: ["moon.example"] })).toEqual(["https://moon.example/"]);
  expect(await urlsOf({ blocked_domains: ["tides.example"] })).toEqual(["https://moon.example/"]);
  const unused = await messages.create(askFor(webSearch({ max_uses: 0 })));
  expect(unused.usage.server_tool_use?.web_search_requests ?? 0).toBe(0);
  await expect(messages.create(askFor(webSearch({ allowed_domains: [""] })))).rejects.toMatchObject({
    status: 400,
    message: expect.stringContaining("'allowed_domains[0]'"),
  });
  failure = 500;
  const failed = await messages.create(askFor(webSearch()));
  expect(failed.content).toMatchObject([
    { type: "server_tool_use" },
    { content: { type: "web_search_tool_result_error", error_code: "unavailable" } },
    { text: "I could not search." },
  ]);
  expect(failed.usage.server_tool_use).toBeNull();
});

test("refuses Anthropic's tools that this service does not run, by their type", async () => {
  const fetching = anthropic().messages.create(askFor({ type: "web_fetch_20250910", name: "web_fetch" }));
  await expect(fetching).rejects.toMatchObject({ status: 400, message: expect.stringContaining("web_fetch_20250910") });
  const coding = anthropic().messages.create(askFor({ type: "code_execution_20250522", name: "code_execution" }));
  await expect(coding).rejects.toMatchObject({
    status: 400,
    message: expect.stringContaining("code_execution_20250522"),
  });
});
