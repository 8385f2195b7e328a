/** A project's moderation policy: set by an administrator and applied to all its chats, through the official client. */

import OpenAI, { BadRequestError } from "openai";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { untilModerationReady } from "../support/models/moderation-ready.ts";
import { type Service, startService } from "../support/service/service.ts";

const HARMFUL = "I will find you and kill you, and then I will kill your whole family.";
const HARMLESS = "Please send me the minutes of yesterday's meeting.";

const config = `
builtin_models: false
models:
  - id: judge
    task: moderation
    aliases: [the-judge]
    deployments:
      - engine: classifier
        model: moderation-minilm
  - id: blind
    task: moderation
    deployments:
      - engine: guard
        family: llama-guard-3
        chat: { engine: scripted, replies: [{ text: safe }] }
  - id: parrot
    task: chat
    deployments:
      - engine: scripted
        echo: true
`;

let service: Service;
let administrator: OpenAI;
let project: string;
let chats: OpenAI["chat"]["completions"];
let moderations: OpenAI["moderations"];
beforeAll(async () => {
  service = await startService({ config });
  await untilModerationReady(service, "judge");
  const options = { baseURL: service.baseUrl, maxRetries: 0 };
  administrator = new OpenAI({ ...options, apiKey: null, adminAPIKey: service.adminKey });
  const { projects } = administrator.admin.organization;
  project = (await projects.create({ name: "Team with a policy" })).id;
  const account = await projects.serviceAccounts.create(project, { name: "Chatter" });
  const client = new OpenAI({ ...options, apiKey: account.api_key?.value ?? "" });
  chats = client.chat.completions;
  moderations = client.moderations;
});
afterAll(() => service.stop());

/** The client has no method for it, so this uses its generic request with the admin key. */
async function administer(method: string, body?: unknown): Promise<{ status: number; body: Record<string, unknown> }> {
  const response = await fetch(`${service.baseUrl}/organization/projects/${project}/moderation_policy`, {
    method,
    headers: {
      authorization: `Bearer ${service.adminKey}`,
      ...(body !== undefined && { "content-type": "application/json" }),
    },
    body: body === undefined ? null : JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const BLOCK = { mode: "block" as const };
const SCORE = { mode: "score" as const };
const ask = (content: string) => ({ model: "parrot", messages: [{ role: "user" as const, content }] });

beforeEach(() => administer("DELETE"));

test("sets, reads, replaces and removes a policy, and audits every change", async () => {
  expect(await administer("GET")).toMatchObject({ status: 404 });
  const set = {
    object: "project.moderation_policy",
    model: "judge",
    policy: { input: BLOCK, output: null },
    unsupported_language: null,
  };
  expect(await administer("POST", { model: "judge", policy: { input: BLOCK } })).toEqual({ status: 200, body: set });
  expect(await administer("GET")).toEqual({ status: 200, body: set });
  expect(await administer("POST", { policy: { input: SCORE, output: BLOCK } })).toMatchObject({
    body: { model: null, policy: { input: SCORE, output: BLOCK } },
  });
  expect(await administer("DELETE")).toMatchObject({
    body: { object: "project.moderation_policy.deleted", deleted: true },
  });
  expect(await administer("DELETE")).toMatchObject({ body: { deleted: false } });
  const { data } = await administrator.admin.organization.auditLogs.list({ project_ids: [project], limit: 100 });
  const changes = data.flatMap((event) => (event.type === "project.updated" ? [event["project.updated"]] : []));
  expect(changes.map((change) => change?.changes_requested)).toEqual([
    { moderation_policy: null },
    { moderation_policy: { model: null, input: "score", output: "block" } },
    { moderation_policy: { model: "judge", input: "block", output: null } },
  ]);
});

test.each<[body: object, param: string]>([
  [{}, "policy"],
  [{ policy: {} }, "policy"],
  [{ policy: { input: { mode: "watch" } } }, "policy.input.mode"],
  [{ policy: { inputs: BLOCK } }, "policy.inputs"],
  [{ model: "parrot", policy: { input: BLOCK } }, "model"],
  [{ model: "nope", policy: { input: BLOCK } }, "model"],
  [{ unsupported_language: { action: "ignore" } }, "unsupported_language.action"],
  [{ unsupported_language: { action: "model" } }, "unsupported_language.model"],
  [{ unsupported_language: { action: "refuse", model: "judge" } }, "unsupported_language.model"],
  [{ unsupported_language: { action: "model", model: "parrot" } }, "unsupported_language.model"],
])("rejects %j and names the field", async (body, param) => {
  expect(await administer("POST", body)).toMatchObject({ status: 400, body: { error: { param } } });
});

test("blocks flagged requests that did not ask for moderation, and leaves others unchanged", async () => {
  await administer("POST", { model: "judge", policy: { input: BLOCK } });
  const refused = chats.create(ask(HARMFUL));
  await expect(refused).rejects.toBeInstanceOf(BadRequestError);
  await expect(refused).rejects.toMatchObject({ code: "content_policy_violation", param: "messages" });
  const harmless = await chats.create(ask(HARMLESS));
  expect(harmless.choices[0]?.message.content).toContain("minutes");
  expect(harmless).not.toHaveProperty("moderation");
  for await (const chunk of await chats.create({ ...ask(HARMLESS), stream: true })) {
    expect(chunk.choices).not.toHaveLength(0);
  }
});

test("ends a flagged answer, in a stream before sending the flagged text", async () => {
  await administer("POST", { model: "judge", policy: { output: BLOCK } });
  const answer = await chats.create(ask(HARMFUL));
  expect(answer.choices[0]).toMatchObject({ finish_reason: "content_filter", message: { content: "" } });
  const chunks = await Array.fromAsync(await chats.create({ ...ask(HARMFUL), stream: true }));
  expect(JSON.stringify(chunks)).not.toContain("family");
  expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe("content_filter");
});

test("returns the scores of every request with the action score", async () => {
  await administer("POST", { model: "judge", policy: { input: SCORE } });
  expect(await chats.create(ask(HARMFUL))).toMatchObject({
    moderation: { input: { model: "judge", results: [{ flagged: true }] }, output: { results: [] } },
  });
});

test("ignores a request's weaker mode or other moderation model", async () => {
  await administer("POST", { model: "judge", policy: { input: BLOCK, output: BLOCK } });
  await expect(
    chats.create({ ...ask(HARMFUL), moderation: { model: "judge", policy: { input: SCORE } } }),
  ).rejects.toMatchObject({
    status: 400,
    code: "moderation_policy",
    param: "moderation.policy.input.mode",
  });
  await expect(chats.create({ ...ask(HARMFUL), moderation: { model: "blind" } })).rejects.toMatchObject({
    status: 400,
    param: "moderation.model",
  });
  await expect(chats.create({ ...ask(HARMFUL), moderation: { model: "the-judge" } })).rejects.toMatchObject({
    code: "content_policy_violation",
  });
});

test("applies a request's stricter mode", async () => {
  await administer("POST", { model: "judge", policy: { input: SCORE } });
  const stricter = { model: "judge", policy: { input: BLOCK } };
  await expect(chats.create({ ...ask(HARMFUL), moderation: stricter })).rejects.toMatchObject({
    code: "content_policy_violation",
  });
});

test("fails closed without a client error when the project may not use its moderation model", async () => {
  await administer("POST", { model: "judge", policy: { input: BLOCK } });
  const { modelPermissions } = administrator.admin.organization.projects;
  await modelPermissions.update(project, { mode: "allow_list", model_ids: ["parrot"] });
  await expect(chats.create(ask(HARMLESS))).rejects.toMatchObject({ status: 503, param: null });
  await modelPermissions.delete(project);
});

test("does not apply to another project", async () => {
  await administer("POST", { model: "judge", policy: { input: BLOCK, output: BLOCK } });
  const answer = await service.client().chat.completions.create(ask(HARMFUL));
  expect(answer.choices[0]?.message.content).toContain("family");
});

const GERMAN = "Ich bin heute sehr müde und gehe ins Bett, weil morgen die Arbeit wieder früh beginnt.";

test("names a language that the model does not know, and scores the text", async () => {
  const { results } = await moderations.create({ model: "judge", input: [HARMLESS, GERMAN, "Guten Tag."] });
  expect(results).toMatchObject([{}, { unsupported_language: "German" }, {}]);
  expect(results[0]).not.toHaveProperty("unsupported_language");
  expect(results[2]).not.toHaveProperty("unsupported_language");
  const scored = await chats.create({ ...ask(GERMAN), moderation: { model: "judge" } });
  expect(scored).toMatchObject({ moderation: { input: { results: [{ unsupported_language: "German" }] } } });
});

test("refuses unknown languages in moderations and moderated chats where the policy says so, but no short text", async () => {
  const refuse = { unsupported_language: { action: "refuse" } };
  expect(await administer("POST", refuse)).toMatchObject({
    body: { policy: { input: null, output: null }, unsupported_language: { action: "refuse", model: null } },
  });
  const refusal = { status: 400, code: "unsupported_language" };
  await expect(moderations.create({ model: "judge", input: GERMAN })).rejects.toMatchObject(refusal);
  await expect(chats.create({ ...ask(GERMAN), moderation: { model: "judge" } })).rejects.toMatchObject(refusal);
  expect((await chats.create(ask(GERMAN))).choices[0]?.message.content).toContain("müde");
  expect((await moderations.create({ model: "judge", input: ["Guten Tag.", HARMLESS] })).results).toHaveLength(2);
  await administer("POST", { ...refuse, model: "judge", policy: { input: BLOCK } });
  await expect(chats.create(ask(GERMAN))).rejects.toMatchObject({ ...refusal, param: "messages" });
});

test("sends unknown languages to another model where the policy says so", async () => {
  await administer("POST", { unsupported_language: { action: "model", model: "blind" } });
  expect(await moderations.create({ model: "judge", input: [HARMLESS, GERMAN] })).toMatchObject({
    model: "blind",
    results: [{ flagged: false }, { flagged: false }],
  });
  expect(await moderations.create({ model: "judge", input: HARMLESS })).toMatchObject({ model: "judge" });
});

test("lists the languages of a moderation model", async () => {
  const response = await fetch(`${service.baseUrl}/models/judge?include_metadata=true`, {
    headers: { authorization: `Bearer ${service.apiKey}` },
  });
  expect(await response.json()).toMatchObject({ metadata: { languages: ["en"] } });
});
