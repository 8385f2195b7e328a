/** The hosted tools that a project turns off: through the official clients, in every format that has tools. */

import Anthropic from "@anthropic-ai/sdk";
import type OpenAI from "openai";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type Service, startService } from "../support/service/service.ts";
import { administrator } from "../support/service/team-services.ts";

const config = `
builtin_models: false
web_search: { engine: endpoint, url: "http://127.0.0.1:9/", price_per_call: "0" }
mcp_servers:
  - { name: clock, url: "http://127.0.0.1:9/mcp" }
models:
  - id: agent
    task: chat
    deployments: [{ engine: scripted, abilities: { tools: true }, echo: true }]
`;

const ALL = { code_interpreter: true, file_search: true, image_generation: true, mcp: true, web_search: true };
const answerOf = (changes: object = {}) =>
  Object.fromEntries(Object.entries({ ...ALL, ...changes }).map(([tool, enabled]) => [tool, { enabled }]));

let service: Service;
let projects: ReturnType<typeof administrator>["projects"];
let project: string;
let client: OpenAI;
let key: string;
beforeAll(async () => {
  service = await startService({ config });
  projects = administrator(service).projects;
  project = (await projects.create({ name: "Team" })).id;
  key = (await projects.serviceAccounts.create(project, { name: "App" })).api_key?.value ?? "";
  client = service.client({ apiKey: key, maxRetries: 0 });
});
afterAll(() => service.stop());
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
});
