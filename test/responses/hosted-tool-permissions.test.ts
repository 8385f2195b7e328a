/** The hosted tools that a project turns off: through the official clients, in every format that has tools. */

import Anthropic from "@anthropic-ai/sdk";
import type OpenAI from "openai";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type EchoUpstream, startEchoUpstream } from "../support/guardrails/echo-upstream.ts";
import { eventually } from "../support/service/eventually.ts";
import { type Service, startService } from "../support/service/service.ts";
import { administrator } from "../support/service/team-services.ts";

const config = (upstream: string) => `
builtin_models: false
web_search: { engine: endpoint, url: "http://127.0.0.1:9/", price_per_call: "0" }
mcp_servers:
  - { name: clock, url: "http://127.0.0.1:9/mcp" }
models:
  - id: agent
    task: chat
    deployments: [{ engine: scripted, abilities: { tools: true }, echo: true }]
  - id: distant
    task: chat
    deployments: [{ engine: openai-compatible, base_url: "${upstream}", model: m, abilities: { tools: true, responses: true } }]
  - id: claude
    task: chat
    deployments: [{ engine: anthropic, base_url: "${upstream}", api_key: k, model: claude }]
`;

const ALL = { code_interpreter: true, file_search: true, image_generation: true, mcp: true, web_search: true };
const answerOf = (changes: object = {}) =>
  Object.fromEntries(Object.entries({ ...ALL, ...changes }).map(([tool, enabled]) => [tool, { enabled }]));

let upstream: EchoUpstream;
let service: Service;
let projects: ReturnType<typeof administrator>["projects"];
let project: string;
let client: OpenAI;
let key: string;
beforeAll(async () => {
  upstream = await startEchoUpstream();
  service = await startService({ config: config(upstream.baseUrl) });
  projects = administrator(service).projects;
  project = (await projects.create({ name: "Team" })).id;
  key = (await projects.serviceAccounts.create(project, { name: "App" })).api_key?.value ?? "";
  client = service.client({ apiKey: key, maxRetries: 0 });
});
afterAll(async () => {
  await service?.stop();
  await upstream?.[Symbol.asyncDispose]();
});
beforeEach(async () => {
  const on = { enabled: true };
  const all = { code_interpreter: on, file_search: on, image_generation: on, mcp: on, web_search: on };
  await projects.hostedToolPermissions.update(project, all);
});

const off = { enabled: false };
const respond = (tool: object) =>
  client.responses.create({ model: "agent", input: "Hello", tools: [tool as OpenAI.Responses.Tool] });

test("reads and changes the tools of a project one by one, and audits each change", async () => {
  expect(await projects.hostedToolPermissions.retrieve(project)).toEqual(answerOf());
  const changed = await projects.hostedToolPermissions.update(project, { mcp: off, web_search: off });
  expect(changed).toEqual(answerOf({ mcp: false, web_search: false }));
  const again = await projects.hostedToolPermissions.update(project, { mcp: { enabled: true }, file_search: null });
  expect(again).toEqual(answerOf({ web_search: false }));
  expect(await projects.hostedToolPermissions.retrieve(project)).toEqual(again);
  const { data } = await administrator(service).auditLogs.list({ project_ids: [project], limit: 2 });
  expect(data.map((event) => event["project.updated"]?.changes_requested)).toEqual([
    { hosted_tool_permissions: { mcp: true } },
    { hosted_tool_permissions: { mcp: false, web_search: false } },
  ]);
});

test.each([
  [{ web_search: { enabled: "no" } }, "web_search.enabled"],
  [{ web_search: {} }, "web_search.enabled"],
  [{ websearch: off }, "websearch"],
])("refuses %j and names the field", async (body, param) => {
  const update = projects.hostedToolPermissions.update(project, body as never);
  await expect(update).rejects.toMatchObject({ status: 400, param });
});

test("refuses project keys and projects of nobody", async () => {
  await expect(projects.hostedToolPermissions.retrieve("proj_none")).rejects.toMatchObject({ status: 404 });
  const asApp = administrator(service, key).projects.hostedToolPermissions;
  await expect(asApp.update(project, { mcp: off })).rejects.toMatchObject({ status: 403 });
});

test.each([
  ["web_search", { type: "web_search_preview" }],
  ["web_search", { type: "web_search" }],
  ["mcp", { type: "mcp", server_label: "clock" }],
  ["file_search", { type: "file_search", vector_store_ids: ["vs_none"] }],
  ["code_interpreter", { type: "code_interpreter", container: { type: "auto" } }],
  ["code_interpreter", { type: "shell", environment: { type: "container_auto" } }],
  ["image_generation", { type: "image_generation" }],
])("refuses %s where the project has turned it off: %j", async (tool, sent) => {
  await projects.hostedToolPermissions.update(project, { [tool]: off });
  await expect(respond(sent)).rejects.toMatchObject({
    status: 403,
    code: "hosted_tool_disabled",
    param: "tools[0].type",
    message: expect.stringMatching(`'${tool}'.*hosted_tool_permissions`),
  });
  const counted = client.responses.inputTokens.count({ model: "agent", input: "Hello", tools: [sent as never] });
  await expect(counted).rejects.toMatchObject({ status: 403 });
});

test("leaves other projects and tools of the caller alone", async () => {
  await projects.hostedToolPermissions.update(project, { web_search: off, code_interpreter: off });
  const own = { type: "function", name: "web_search", parameters: {}, strict: false };
  expect((await respond(own)).output_text).toContain("Hello");
  expect((await respond({ type: "shell" })).output_text).toContain("Hello");
  const other = service.client({ maxRetries: 0 });
  const search = { model: "agent", input: "Hello", tools: [{ type: "web_search" as const }] };
  expect((await other.responses.create(search)).output_text).toContain("Hello");
});

test("refuses the tools in Messages, chat completions and at /mcp", async () => {
  await projects.hostedToolPermissions.update(project, { web_search: off, mcp: off });
  const anthropic = new Anthropic({ baseURL: service.origin, apiKey: key, maxRetries: 0 });
  const message = { model: "agent", max_tokens: 20, messages: [{ role: "user" as const, content: "Hello" }] };
  const search = { type: "web_search_20250305" as const, name: "web_search" as const };
  await expect(anthropic.messages.create({ ...message, tools: [search] })).rejects.toMatchObject({ status: 403 });
  const servers = [{ type: "url" as const, name: "clock", url: "http://127.0.0.1:9/mcp" }];
  const beta = anthropic.beta.messages.create({ ...message, mcp_servers: servers, betas: ["mcp-client-2025-04-04"] });
  await expect(beta).rejects.toMatchObject({ status: 403 });
  const chat = client.chat.completions.create({ ...message, web_search_options: {} });
  await expect(chat).rejects.toMatchObject({ status: 403, param: "web_search_options" });
  const list = await service.fetch("/mcp", {
    method: "POST",
    headers: {
      authorization: `Bearer ${key}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
  });
  expect(list.status).toBe(403);
  const headers = { authorization: `Bearer ${key}` };
  for (const answer of [
    await post("/v1/mcp_servers/clock/calls", { name: "now", arguments: {} }),
    await service.fetch("/v1/mcp_servers/clock/tools", { headers }),
    await service.fetch("/v1/mcp_servers", { headers }),
  ]) {
    expect([answer.status, await answer.json()]).toMatchObject([403, { error: { code: "hosted_tool_disabled" } }]);
  }
});

const post = (path: string, body: object) =>
  service.fetch(path, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });

const messages = [{ role: "user", content: "Hello" }];
const search = { type: "web_search" };
const added = { type: "additional_tools", role: "developer", tools: [search] };

test.each([
  ["/v1/chat/completions", { messages, tools: [search] }, "tools[0].type"],
  ["/v1/chat/completions", { messages, tools: [{ type: "openrouter:web_search" }] }, "tools[0].type"],
  ["/v1/chat/completions", { messages, tools: [{ type: "browser_search" }] }, "tools[0].type"],
  ["/v1/responses", { input: "Hello", tools: [{ type: "x_search" }] }, "tools[0].type"],
  ["/v1/chat/completions", { messages, tools: [{ type: "mcp", server_url: "https://a.example" }] }, "tools[0].type"],
  ["/v1/chat/completions", { messages, plugins: [{ id: "web" }] }, "plugins[0]"],
  ["/v1/chat/completions", { messages, search_parameters: { mode: "auto" } }, "search_parameters"],
  ["/v1/completions", { prompt: "Hello", web_search_options: {} }, "web_search_options"],
  ["/v1/responses", { input: [added, { role: "user", content: "Hello" }] }, "input[0].tools[0].type"],
])("sends no upstream what the project has turned off: %s with %j", async (path, body, param) => {
  await projects.hostedToolPermissions.update(project, { web_search: off, mcp: off });
  upstream.take();
  const refused = await post(path, { model: "distant", ...body });
  expect([refused.status, await refused.json()]).toMatchObject([
    403,
    { error: { code: "hosted_tool_disabled", param } },
  ]);
  expect(upstream.take()).toBe("");
});

test("sends upstreams the plugins and fields that are none of these tools", async () => {
  await projects.hostedToolPermissions.update(project, { web_search: off, mcp: off });
  const fields = { plugins: [{ id: "response-healing" }], search_parameters: { mode: "off" }, tools: [] };
  expect((await post("/v1/chat/completions", { model: "distant", messages, ...fields })).status).toBe(200);
  expect(upstream.take()).toContain("response-healing");
});

test("keeps the tools out of a batch of messages", async () => {
  await projects.hostedToolPermissions.update(project, { web_search: off });
  const params = { model: "claude", max_tokens: 20, messages };
  const tools = [{ type: "web_search_20250305", name: "web_search" }];
  upstream.take();
  const created = await post("/v1/messages/batches", { requests: [{ custom_id: "a", params: { ...params, tools } }] });
  const { id } = (await created.json()) as { id: string };
  const batch = async () =>
    (await service.fetch(`/v1/messages/batches/${id}`, { headers: { authorization: `Bearer ${key}` } })).json();
  await eventually(async () =>
    expect(await batch()).toMatchObject({ processing_status: "ended", request_counts: { errored: 1 } }),
  );
  expect(upstream.take()).toBe("");
});
