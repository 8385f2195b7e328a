/** Mirrors: a share of a model's chats also goes to a second model, with OpenAI's client, local and upstream, streamed and not. */

import OpenAI from "openai";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/service/eventually.ts";
import { type InProcessService, startService } from "../support/service/service.ts";

interface Entry {
  id: string;
  project_id: string;
  operation: string;
  model: string;
  answered_by: string | null;
  outcome: string | null;
  status: number;
  cost_usd: number | null;
  output_tokens: number | null;
}

let upstream: InProcessService;
let service: InProcessService;
let client: OpenAI;
beforeAll(async () => {
  upstream = await startService({
    config: `
models:
  - { id: second, task: chat, deployments: [{ engine: scripted, replies: [{ text: "from the upstream" }] }] }
`,
  });
  const remote = `{ engine: openai-compatible, base_url: "${upstream.origin}/v1", api_key: ${upstream.apiKey}, model: second }`;
  const main = `deployments: [{ engine: scripted, replies: [{ text: "Hello." }] }]`;
  const price = `price: { prompt: "1", completion: "1" }`;
  service = await startService({
    config: `
models:
  - { id: local, task: chat, ${price}, mirror: { model: other }, ${main} }
  - { id: forwarded, task: chat, mirror: { model: remote }, deployments: [${remote}] }
  - { id: broken, task: chat, mirror: { model: away }, ${main} }
  - { id: busy, task: chat, mirror: { model: slow, max_concurrent: 2 }, ${main} }
  - { id: revoked, task: chat, mirror: { model: slow }, ${main} }
  - { id: private, task: chat, mirror: { model: careful }, ${main} }
  - { id: repeated, task: chat, mirror: { model: other }, cache: { sampled: true }, ${main} }
  - { id: guarded, task: chat, mirror: { model: careful }, ${main} }
  - { id: checked, task: chat, mirror: { model: leaky }, guardrails: [{ type: pii, action: mask, on: [output] }], ${main} }
  - { id: unchecked, task: chat, mirror: { model: leaky }, ${main} }
  - { id: leaky, task: chat, hidden: true, deployments: [{ engine: scripted, replies: [{ text: "Write to ada@example.com." }] }] }
  - { id: other, task: chat, hidden: true, ${price}, deployments: [{ engine: scripted, replies: [{ text: "Second." }] }] }
  - { id: remote, task: chat, hidden: true, deployments: [${remote}] }
  - { id: away, task: chat, hidden: true, deployments: [{ engine: openai-compatible, base_url: "http://127.0.0.1:9/v1", model: x }] }
  - { id: slow, task: chat, hidden: true, deployments: [{ engine: scripted, replies: [{ text: "One two three.", delay_ms_before_first: 600000 }] }] }
  - id: careful
    task: chat
    hidden: true
    guardrails: [{ type: pii, action: mask }]
    deployments: [{ engine: scripted, replies: [{ match: "grace@example.com", text: "It leaked out to me." }, { text: "Masked." }] }]
`,
  });
  client = clientOf(service.apiKey);
});
afterAll(async () => {
  await service?.stop();
  await upstream?.stop();
});

const clientOf = (apiKey: string) => new OpenAI({ baseURL: `${service.origin}/v1`, apiKey });

async function administer(method: "GET" | "POST" | "DELETE", path: string, payload?: object) {
  const headers = { authorization: `Bearer ${service.adminKey}` };
  return (
    await service.inject({ method, url: `/v1/organization/${path}`, headers, ...(payload && { payload }) })
  ).json();
}

async function newProject() {
  const { id: project } = await administer("POST", "projects", { name: "Other" });
  const { id, api_key } = await administer("POST", `projects/${project}/service_accounts`, { name: "Caller" });
  return { project: `projects/${project}`, account: `projects/${project}/service_accounts/${id}`, key: api_key.value };
}

const ask = async (model: string, content = "Hi", from = client) =>
  (await from.chat.completions.create({ model, messages: [{ role: "user", content }] })).choices[0]?.message.content;

async function askStreamed(model: string): Promise<string> {
  const stream = await client.chat.completions.create({
    ...{ model, stream: true },
    messages: [{ role: "user", content: "Hi" }],
  });
  let text = "";
  for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? "";
  return text;
}

async function entriesOf(model: string): Promise<Entry[]> {
  const response = await service.inject({
    method: "GET",
    url: "/v1/organization/requests?limit=100",
    headers: { authorization: `Bearer ${service.adminKey}` },
  });
  return response.json().data.filter((each: Entry) => each.model === model);
}

async function mirrored(model: string): Promise<Record<string, number>> {
  const { body } = await service.inject({
    method: "GET",
    url: "/metrics",
    headers: { authorization: `Bearer ${service.adminKey}` },
  });
  const lines = body.matchAll(/^parlance_mirrored_requests_total\{model="([^"]+)",outcome="([^"]+)"\} (\d+)/gm);
  return Object.fromEntries([...lines].filter((line) => line[1] === model).map((line) => [line[2], Number(line[3])]));
}

test.each([
  ["local", "Hello.", "other"],
  ["forwarded", "from the upstream", "remote"],
])("answers a request for a %s model itself, and records the mirror's answer", async (model, text, mirror) => {
  expect(await ask(model)).toBe(text);
  expect(await askStreamed(model)).toBe(text);
  await eventually(async () => {
    const entries = await entriesOf(model);
    const copies = entries.filter(({ operation }) => operation === "mirror");
    expect(copies).toHaveLength(2);
    for (const copy of copies) {
      expect(copy).toMatchObject({ answered_by: mirror, outcome: "finished", status: 200, cost_usd: null });
      expect(copy.output_tokens).toBeGreaterThan(0);
    }
    expect(entries.filter(({ answered_by: by }) => by === model)).toHaveLength(2);
  });
  expect(await mirrored(model)).toEqual({ finished: 2 });
});

test("bills no mirror, neither in costs nor in usage", async () => {
  const get = async (path: string) => {
    const response = await service.inject({
      method: "GET",
      url: path,
      headers: { authorization: `Bearer ${service.adminKey}` },
    });
    return response.body;
  };
  const start = Math.floor(Date.now() / 1000) - 86_400;
  const usage = `/v1/organization/usage/completions?start_time=${start}&group_by=model&bucket_width=1d`;
  await eventually(async () => expect(await get(usage)).toContain('"local"'));
  expect(await get(usage)).not.toContain('"other"');
  expect(await get(`/v1/organization/costs?start_time=${start}&group_by=line_item`)).not.toContain("other");
});

test("does not notice a mirror that fails", async () => {
  expect(await ask("broken")).toBe("Hello.");
  await eventually(async () => expect(await mirrored("broken")).toEqual({ failed: 1 }));
  expect((await entriesOf("broken")).map(({ operation, status }) => [operation, status]).sort()).toEqual([
    ["chat/completions", 200],
    ["mirror", 502],
  ]);
});

test("mirrors no answer of the cache", async () => {
  expect([await ask("repeated"), await ask("repeated")]).toEqual(["Hello.", "Hello."]);
  await eventually(async () => expect(await mirrored("repeated")).toEqual({ finished: 1 }));
});

test("masks what the guardrails of the mirror mask", async () => {
  await ask("guarded", "Write to grace@example.com.");
  await eventually(async () => expect(await mirrored("guarded")).toEqual({ finished: 1 }));
  const copy = (await entriesOf("guarded")).find(({ operation }) => operation === "mirror");
  expect(copy?.output_tokens).toBe(1);
});

test("records no answer of a mirror where guardrails check answers", async () => {
  const { project, key } = await newProject();
  await administer("POST", `${project}/recording`, { record_content: "all" });
  const isRecorded = async (model: string) => {
    const copy = (await entriesOf(model)).find(({ operation }) => operation === "mirror");
    return (await administer("GET", `requests/${copy?.id}`)).recorded;
  };
  for (const model of ["checked", "unchecked"]) {
    await ask(model, "Hi", clientOf(key));
    await eventually(async () => expect(await mirrored(model)).toEqual({ finished: 1 }));
  }
  await eventually(async () => expect(await isRecorded("unchecked")).toBe(true));
  expect(await isRecorded("checked")).toBe(false);
});

test("sends no copy to a model that the project may not use, whose guardrails do not apply either", async () => {
  const { project, key } = await newProject();
  await administer("POST", `${project}/model_permissions`, { mode: "allow_list", model_ids: ["private"] });
  const request = { model: "private", messages: [{ role: "user" as const, content: "Write to grace@example.com." }] };
  const { response } = await clientOf(key).chat.completions.create(request).withResponse();
  expect(response.headers.get("x-parlance-guardrails")).toBeNull();
  await ask("private");
  await eventually(async () => expect(await mirrored("private")).toEqual({ finished: 1 }));
});

test("cancels the copy of a key that is revoked, and no other", async () => {
  const { project, account, key } = await newProject();
  for (const from of [client, clientOf(key)]) expect(await ask("revoked", "Hi", from)).toBe("Hello.");
  await administer("DELETE", account);
  await eventually(async () => {
    const copies = (await entriesOf("revoked")).filter(({ operation }) => operation === "mirror");
    expect(copies.map(({ project_id: id, status }) => [`projects/${id}`, status])).toEqual([[project, 502]]);
  });
  expect(await mirrored("revoked")).toEqual({ failed: 1 });
});

test("drops copies beyond those that may be on their way, and answers all", async () => {
  const answers = await Promise.all(Array.from({ length: 20 }, () => ask("busy")));
  expect(new Set(answers)).toEqual(new Set(["Hello."]));
  expect(await mirrored("busy")).toEqual({ dropped: 18 });
});

test("cancels the copies that are on their way when the service stops", async () => {
  const stopped = await startService({
    config: `builtin_models: false
models:
  - { id: busy, task: chat, mirror: { model: slow }, deployments: [{ engine: scripted, replies: [{ text: "Hello." }] }] }
  - { id: slow, task: chat, deployments: [{ engine: scripted, replies: [{ text: "One.", delay_ms_before_first: 600000 }] }] }
`,
  });
  const answer = await stopped.post("/v1/chat/completions", {
    model: "busy",
    messages: [{ role: "user", content: "Hi" }],
  });
  expect(answer.status).toBe(200);
  await stopped.stop();
  expect(stopped.output()).toContain('"msg":"mirrored request"');
  expect(stopped.output()).toContain('"outcome":"client-left"');
});
