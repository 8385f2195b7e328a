/** Usage and costs by end user, tag, tool, service tier and batch, and costs that upstreams state. */

import { parquetReadObjects } from "hyparquet";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/service/eventually.ts";
import { type Service, startService } from "../support/service/service.ts";
import { startUsageUpstream, type UsageUpstream } from "../support/upstreams/usage-upstream.ts";

let upstream: UsageUpstream;
let service: Service;

beforeAll(async () => {
  upstream = await startUsageUpstream();
  service = await startService({
    config: `
builtin_models: false
ollama: { enabled: true }
usage:
  labels: { end_users: true, tag_header: x-tags, tag_metadata: [feature], tools: true, max_values: 3 }
models:
  - id: priced
    task: chat
    price: { prompt: "0.001", completion: "0.002" }
    deployments: [{ engine: openai-compatible, base_url: "${upstream.baseUrl}", abilities: { messages: true } }]
  - id: local
    task: chat
    deployments:
      - { engine: scripted, abilities: { tools: true }, replies: [{ tool_calls: [{ name: clock, arguments: {} }] }] }
`,
  });
});
afterAll(async () => {
  await service?.stop();
  await upstream?.[Symbol.asyncDispose]();
});

const USAGE = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
const COST = 0.02;

async function chat(body: object, headers: Record<string, string> = {}): Promise<string> {
  const messages = [{ role: "user", content: "Hi" }];
  const authorization = { authorization: `Bearer ${service.apiKey}`, "content-type": "application/json" };
  const response = await service.fetch("/v1/chat/completions", {
    ...{ method: "POST", headers: { ...authorization, ...headers } },
    body: JSON.stringify({ model: "priced", messages, ...body }),
  });
  expect(response.status).toBe(200);
  await response.text();
  return response.headers.get("x-request-id") ?? "";
}

async function report(kind: "costs" | "usage/completions", query: string) {
  const start = Math.floor(Date.now() / 1000) - 3600;
  const response = await service.fetch(`/v1/organization/${kind}?start_time=${start}&limit=3&${query}`, {
    headers: { authorization: `Bearer ${service.adminKey}` },
  });
  const answer = (await response.json()) as { data: { results: Record<string, unknown>[] }[]; error?: object };
  return { status: response.status, error: answer.error, results: answer.data?.flatMap(({ results }) => results) };
}

test("sums requests by end user, tag and tool, and others in one", async () => {
  upstream.answer({ usage: USAGE });
  await chat({ user: "ada" }, { "x-tags": "blue" });
  await chat({ safety_identifier: "ada", metadata: { feature: "search" } }, { "x-tags": "blue" });
  upstream.answer({ usage: USAGE, calls: ["weather", "weather"] });
  await chat({ user: "bob", stream: true });
  await chat({ user: "cem" });
  upstream.answer({ usage: USAGE });
  await chat({ user: "dan" });
  await chat({ user: "eve" });
  await chat({});
  await eventually(async () => {
    const { results } = await report("costs", "group_by=end_user");
    const costs = Object.fromEntries(
      results.map((each) => [each.x_end_user, (each.amount as { value: number }).value]),
    );
    expect(costs).toEqual({
      ...{ ada: 2 * COST, bob: COST, cem: COST, "(other)": 2 * COST },
    });
  });
  const usage = await report("usage/completions", "group_by=tag&bucket_width=1h");
  const byTag = (results: Record<string, unknown>[]) =>
    results.map(({ x_tag, num_model_requests, input_tokens }) => [x_tag, num_model_requests, input_tokens]);
  expect(byTag(usage.results)).toEqual([
    ["blue", 2, 20],
    ["feature:search", 1, 10],
  ]);
  expect(byTag((await report("usage/completions", "group_by=tag&tags=blue")).results)).toEqual([["blue", 2, 20]]);
  const tools = (await report("usage/completions", "group_by=tool,model")).results;
  expect(tools).toMatchObject([{ x_tool: "weather", model: "priced", num_model_requests: 2 }]);
  // The sums of all requests contain each request once.
  await eventually(async () => {
    const all = (await report("usage/completions", "")).results;
    expect(all).toMatchObject([{ num_model_requests: 7, input_tokens: 70 }]);
  });
});

test.each([
  ["group_by=end_user,tag", "cannot be combined"],
  ["group_by=tool&bucket_width=1m", "by hour and day"],
  ["group_by=colour", "is not one of"],
])("refuses %s", async (query, message) => {
  const { status, error } = await report("usage/completions", query);
  expect(status).toBe(400);
  expect(error).toMatchObject({ message: expect.stringContaining(message) });
});

test("separates service tiers, and records what the upstream states that a request costs", async () => {
  // OpenRouter's field, 3 % more than the price; then LiteLLM's header, which agrees.
  upstream.answer({ usage: { ...USAGE, cost: 1.03 * COST }, fields: { service_tier: "flex" } });
  const openRouter = await chat({ stream: true });
  upstream.answer({
    usage: USAGE,
    fields: { service_tier: "flex" },
    headers: { "x-litellm-response-cost": String(COST) },
  });
  const liteLlm = await chat({});
  await eventually(async () => {
    const { results } = await report("costs", "group_by=service_tier");
    expect(results.find(({ x_service_tier }) => x_service_tier === "flex")).toMatchObject({
      ...{ amount: { value: 2 * COST }, x_reported: 2.03 * COST, x_compared: 2 * COST },
    });
  });
  const request = async (id: string) => (await service.fetch(`/v1/organization/requests/${id}`)).json();
  expect(await request(openRouter)).toMatchObject({
    ...{ cost_usd: COST, reported_cost_usd: 1.03 * COST, compared_cost_usd: COST, service_tier: "flex" },
    cost_parts: [
      { unit: "prompt", quantity: 10, cost_usd: 0.01 },
      { unit: "completion", quantity: 5, cost_usd: 0.01 },
    ],
  });
  expect(await request(liteLlm)).toMatchObject({ reported_cost_usd: COST });
  const metrics = await (await service.fetch("/metrics")).text();
  expect(metrics).toContain('parlance_cost_differences_total{model="priced",deployment="priced"} 1');
  expect(metrics).toMatch(
    /parlance_cost_dollars_total\{model="priced",deployment="priced",source="reported"\} 0\.0406/,
  );
  const usage = (await report("usage/completions", "group_by=service_tier,batch")).results;
  expect(usage.find(({ service_tier }) => service_tier === "flex")).toMatchObject({ batch: false });
  expect(usage.find(({ service_tier }) => service_tier === "default")).toMatchObject({ batch: false });
});

test("counts calls of functions by local models, streamed or not", async () => {
  const tools = [{ type: "function", function: { name: "clock", parameters: { type: "object" } } }];
  await chat({ model: "local", tools });
  await chat({ model: "local", tools, stream: true });
  await eventually(async () => {
    const { results } = await report("usage/completions", "group_by=tool&tools=clock");
    expect(results).toMatchObject([{ x_tool: "clock", num_model_requests: 2 }]);
  });
});

test("exports usage as CSV and as Parquet, with the same rows", async () => {
  upstream.answer({ usage: USAGE });
  // A spreadsheet must not run a tag as a formula.
  await chat({}, { "x-tags": '=HYPERLINK("x")' });
  const start = Math.floor(Date.now() / 1000) - 3600;
  const get = (query: string) =>
    service.fetch(`/v1/organization/usage/export?start_time=${start}&${query}`, {
      headers: { authorization: `Bearer ${service.adminKey}` },
    });
  let lines: string[] = [];
  await eventually(async () => {
    const response = await get("group_by=tag,model");
    expect(response.headers.get("content-type")).toContain("text/csv");
    lines = (await response.text()).trimEnd().split("\r\n");
    expect(lines).toContainEqual(expect.stringContaining(`"'=HYPERLINK(""x"")",priced,1,10,`));
  });
  expect(lines[0]).toBe(
    "start_time,end_time,tag,model,requests,input_tokens,input_cached_tokens,input_cache_write_tokens,input_audio_tokens,output_tokens,output_reasoning_tokens,output_audio_tokens,tool_calls,images,stored_byte_hours,characters,audio_seconds,cost_nano_usd,cost_usd,reported_cost_usd,compared_cost_usd",
  );
  const file = await (await get("group_by=tag,model&format=parquet")).arrayBuffer();
  const rows = await parquetReadObjects({ file });
  expect(rows).toHaveLength(lines.length - 1);
  expect(rows.find(({ tag }) => tag === "blue")).toMatchObject({
    ...{ model: "priced", requests: 2n, input_tokens: 20n, cost_nano_usd: 40_000_000n, cost_usd: 2 * COST },
    ...{ reported_cost_usd: null, start_time: expect.any(Date) },
  });
  expect((await get("group_by=colour")).status).toBe(400);
});

test("counts the tags of requests in the formats of other vendors", async () => {
  const messages = [{ role: "user", content: "Hi" }];
  const bodies: Record<string, object> = {
    "/api/chat": { model: "local", messages, stream: false },
    "/v2/chat": { model: "local", messages },
    "/v1beta/models/local:generateContent": { contents: [{ parts: [{ text: "Hi" }] }] },
    "/v1/messages": { model: "local", messages, max_tokens: 5 },
    "/v1/fim/completions": { model: "local", prompt: "Hi" },
  };
  for (const [path, body] of Object.entries(bodies)) {
    expect((await service.post(path, body, { headers: { "x-tags": "blue" } })).status).toBe(200);
  }
  await eventually(async () => {
    const { results } = await report("usage/completions", "group_by=tag,model&tags=blue");
    expect(results).toContainEqual(expect.objectContaining({ model: "local", num_model_requests: 5 }));
  });
});
