/** Changes of what a caller may use, while a tool of its response runs: the next turn sees them. */

import Anthropic from "@anthropic-ai/sdk";
import type OpenAI from "openai";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Caller } from "../../src/contracts/caller.ts";
import type { ServiceCall, ServiceToolType } from "../../src/features/tools/service-tool.ts";
import { newId } from "../../src/kernel/id.ts";
import { type InProcessService, startService } from "../support/service/service.ts";
import { administrator } from "../support/service/team-services.ts";

/** Called while the first call of a response runs. */
let change: () => Promise<unknown>;
/** Callers of the calls, in order. */
let callers: Caller[] = [];

/** A search that finds nothing. */
class SearchCall implements ServiceCall {
  readonly #id = newId("ws_");

  toItem(status: string) {
    return { id: this.#id, type: "web_search_call", status, action: { type: "search", query: "x" } };
  }

  begin() {
    return [];
  }

  append() {
    return [];
  }

  // biome-ignore lint/correctness/useYield: it has no progress
  async *run(_input: object, { caller }: Parameters<ServiceCall["run"]>[1]) {
    callers.push(caller);
    if (callers.length === 1) await change();
    return { type: "result" as const, text: `result ${callers.length}` };
  }

  refuse() {
    return [];
  }
}

const SEARCH: ServiceToolType = {
  type: "web_search",
  serves: () => true,
  open: async (_tool, { functionName, path }) => ({
    functions: [
      {
        definition: {
          name: functionName("web_search"),
          description: "Searches",
          parameters: { type: "object" },
          param: path,
        },
        name: "web_search",
        begin: () => new SearchCall(),
      },
    ],
  }),
};

let service: InProcessService;
let projects: ReturnType<typeof administrator>["projects"];
let project: string;
let client: OpenAI;
let messages: Anthropic["messages"];
let revoke: () => Promise<unknown>;
beforeAll(async () => {
  const search = "tool_calls: [{ name: web_search, arguments: {} }]";
  service = await startService({
    config: `
builtin_models: false
models:
  - id: agent
    task: chat
    deployments:
      - engine: scripted
        abilities: { tools: true }
        replies: [{ match_tool: "result 2", text: "Nothing." }, { ${search} }]
  - { id: other, task: chat, deployments: [{ engine: scripted, echo: true }] }
  - id: judge
    task: moderation
    deployments: [{ engine: guard, family: llama-guard-3, chat: { engine: scripted, replies: [{ text: "unsafe\\nS1" }] } }]
`,
  });
  service.tools.register(SEARCH);
  projects = administrator(service).projects;
});
afterAll(() => service?.stop());

beforeEach(async () => {
  callers = [];
  change = async () => {};
  project = (await projects.create({ name: "Team" })).id;
  const { api_key: key } = await projects.serviceAccounts.create(project, { name: "App" });
  if (!key) throw new Error("no key");
  client = service.client({ apiKey: key.value, maxRetries: 0 });
  messages = new Anthropic({ apiKey: key.value, baseURL: service.origin, maxRetries: 0 }).messages;
  revoke = () => projects.apiKeys.delete(key.id, { project_id: project });
});

async function post(path: string, body: object): Promise<void> {
  const headers = { authorization: `Bearer ${service.adminKey}` };
  const url = `/v1/organization/projects/${project}/${path}`;
  expect((await service.inject({ method: "POST", url, headers, payload: body })).statusCode).toBe(200);
}

const loseModel = () => projects.modelPermissions.update(project, { mode: "allow_list", model_ids: ["other"] });
const loseTool = () => projects.hostedToolPermissions.update(project, { web_search: { enabled: false } });
const guard = () => post("guardrails", { guardrails: [{ type: "words", words: ["Search"] }] });
const moderate = () => post("moderation_policy", { model: "judge", policy: { input: { mode: "block" } } });

const body = () => ({ model: "agent", input: "Search.", tools: [{ type: "web_search" as const }] });

type Change = [name: string, change: () => Promise<unknown>, failure: object];
const CHANGES: Change[] = [
  ["the model", loseModel, { status: 404, code: "model_not_found" }],
  ["the tool", loseTool, { status: 403, code: "hosted_tool_disabled", param: "tools[0].type" }],
  ["a guardrail", guard, { status: 400, code: "content_policy_violation" }],
  ["moderation", moderate, { status: 400, code: "content_policy_violation" }],
];

test.each(CHANGES)(
  "ends a response by the change as it would refuse a new request: %s",
  async (_name, apply, failure) => {
    change = apply;
    await expect(client.responses.create(body())).rejects.toMatchObject(failure);
    expect(callers).toHaveLength(1);
    await expect(client.responses.create(body())).rejects.toMatchObject(failure);
  },
);

test.each(CHANGES)("fails a background response by the change, as a new request: %s", async (_name, apply) => {
  change = apply;
  const { id } = await client.responses.create({ ...body(), background: true });
  await expect.poll(async () => (await client.responses.retrieve(id)).status).toMatch(/failed|completed/);
  const { status, error } = await client.responses.retrieve(id);
  expect([status, callers.length]).toEqual(["failed", 1]);
  await expect(client.responses.create(body())).rejects.toThrow(error?.message);
});

test("sees changes in chat completions and Messages, too", async () => {
  change = loseTool;
  const chat = { model: "agent", messages: [{ role: "user" as const, content: "Search." }] };
  const completing = client.chat.completions.create({ ...chat, web_search_options: {} });
  await expect(completing).rejects.toMatchObject({ status: 403, param: "web_search_options" });
  await projects.hostedToolPermissions.update(project, { web_search: { enabled: true } });
  callers = [];
  const tools = [{ type: "web_search_20250305" as const, name: "web_search" as const }];
  await expect(messages.create({ ...chat, max_tokens: 100, tools })).rejects.toMatchObject({ status: 403 });
  expect(callers).toHaveLength(1);
});

test("goes on after a change that takes nothing from it, as the caller that it is now", async () => {
  change = () => projects.update(project, { name: "Renamed" });
  expect((await client.responses.create(body())).output_text).toBe("Nothing.");
  expect(callers[1]).toEqual(callers[0]);
  expect(callers[1]).not.toBe(callers[0]);
});

test("ends with its key", async () => {
  change = revoke;
  await expect(client.responses.create(body())).rejects.toMatchObject({ status: 401, code: "invalid_api_key" });
});
