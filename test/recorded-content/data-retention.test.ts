/** What organizations and projects let the service keep, through the official client, with workers. */

import type OpenAI from "openai";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type EchoUpstream, startEchoUpstream } from "../support/guardrails/echo-upstream.ts";
import { eventually } from "../support/service/eventually.ts";
import { type ServiceProcess, startServiceProcess } from "../support/service/service-process.ts";
import { administrator } from "../support/service/team-services.ts";
import { deploymentAt } from "../support/upstreams/deployment-at.ts";

type Retention = OpenAI.Admin.Organization.DataRetentionUpdateParams["retention_type"];

let upstream: EchoUpstream;
let service: ServiceProcess;
let admin: ReturnType<typeof administrator>;
let project: string;
let other: string;
let client: OpenAI;
let otherClient: OpenAI;
beforeAll(async () => {
  upstream = await startEchoUpstream();
  const forwarded = deploymentAt(upstream, "echo");
  service = await startServiceProcess({
    config: `
builtin_models: false
server: { workers: 2 }
models:
  - { id: local, task: chat, cache: { sampled: true }, deployments: [{ engine: scripted, echo: true }] }
  - { id: forwarded, task: chat, deployments: [${forwarded}] }
`,
    environment: { PARLANCE_ENCRYPTION_KEY: "k".repeat(40) },
  });
  admin = administrator(service);
  [project, client] = await newProject();
  [other, otherClient] = await newProject();
});
afterAll(async () => {
  await service.stop();
  await upstream[Symbol.asyncDispose]();
});
afterEach(async () => {
  await admin.dataRetention.update({ retention_type: "none" as Retention });
  await admin.projects.dataRetention.update(project, { retention_type: "organization_default" });
});

async function newProject(): Promise<[string, OpenAI]> {
  const { id } = await admin.projects.create({ name: "Team" });
  const account = await admin.projects.serviceAccounts.create(id, { name: "App" });
  const body = { record_content: "all" };
  await service.fetch(`/v1/organization/projects/${id}/recording`, {
    method: "POST",
    headers: { authorization: `Bearer ${service.adminKey}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return [id, service.client({ apiKey: account.api_key?.value ?? "", maxRetries: 0 })];
}

const set = (retention_type: Retention, id = project) => admin.projects.dataRetention.update(id, { retention_type });

async function say(from: OpenAI, model = "local", more: object = {}) {
  const body = { model, messages: [{ role: "user" as const, content: "Badgers dig." }], ...more };
  const { data, response } = await from.chat.completions.create(body).withResponse();
  return { id: data.id, requestId: response.headers.get("x-request-id") ?? "", headers: response.headers };
}

/** Whether the content of a request was recorded; the history has the request in any case. */
async function isRecorded(requestId: string, sentinel?: string): Promise<boolean> {
  const read = async (id: string) => {
    const response = await service.fetch(`/v1/organization/requests/${id}?include[]=content`, {
      headers: { authorization: `Bearer ${service.adminKey}` },
    });
    return (await response.json()) as { id?: string; content?: { input_messages: unknown[] } | null };
  };
  await eventually(async () => {
    expect((await read(requestId)).id).toBe(requestId);
    // What is written later than the request that follows it is not written.
    if (sentinel !== undefined) expect((await read(sentinel)).content).toBeTruthy();
  });
  return Boolean((await read(requestId)).content);
}

test("reads and sets what an organization and a project keep, with audit", async () => {
  expect(await admin.dataRetention.retrieve()).toEqual({ object: "organization.data_retention", type: "none" });
  expect(await admin.projects.dataRetention.retrieve(project)).toEqual({
    object: "project.data_retention",
    type: "organization_default",
  });
  const changed = await admin.dataRetention.update({ retention_type: "modified_abuse_monitoring" });
  expect(changed).toEqual({ object: "organization.data_retention", type: "modified_abuse_monitoring" });
  expect(await admin.dataRetention.retrieve()).toEqual(changed);
  expect(await set("zero_data_retention")).toEqual({ object: "project.data_retention", type: "zero_data_retention" });
  const { data } = await admin.auditLogs.list({ limit: 2 });
  expect(data.map((event) => (event["project.updated"] ?? event["organization.updated"])?.changes_requested)).toEqual([
    { data_retention: "zero_data_retention" },
    { data_retention: "modified_abuse_monitoring" },
  ]);
});

test("refuses by name what it cannot keep to, and projects that would keep more than their organization", async () => {
  for (const type of ["enhanced_zero_data_retention", "enhanced_modified_abuse_monitoring"] as const) {
    const refusal = { status: 400, param: "retention_type", message: expect.stringContaining(`'${type}'`) };
    await expect(admin.dataRetention.update({ retention_type: type })).rejects.toMatchObject(refusal);
    await expect(set(type)).rejects.toMatchObject(refusal);
  }
  const unknown = admin.dataRetention.update({ retention_type: "organization_default" as Retention });
  await expect(unknown).rejects.toMatchObject({ status: 400, param: "retention_type" });
  await admin.dataRetention.update({ retention_type: "zero_data_retention" });
  const looser = admin.projects.dataRetention.update(project, { retention_type: "none" });
  await expect(looser).rejects.toMatchObject({ status: 400, message: expect.stringContaining("zero_data_retention") });
  await expect(admin.projects.dataRetention.retrieve("proj_none")).rejects.toMatchObject({ status: 404 });
});

test.each(["local", "forwarded"])(
  "modified_abuse_monitoring records nothing, and stores what callers ask: %s",
  async (model) => {
    const before = await say(client, model);
    expect(await isRecorded(before.requestId)).toBe(true);
    await set("modified_abuse_monitoring");
    const recorded = await say(client, model);
    const sentinel = await say(otherClient, model);
    expect(await isRecorded(recorded.requestId, sentinel.requestId)).toBe(false);
    const stored = await say(client, model, { store: true });
    expect((await client.chat.completions.retrieve(stored.id)).id).toBe(stored.id);
    const response = await client.responses.create({ model, input: "Badgers dig." });
    expect((await client.responses.retrieve(response.id)).output_text).toContain("Badgers");
  },
);

test.each(["local", "forwarded"])("zero_data_retention stores nothing for callers: %s", async (model) => {
  await admin.dataRetention.update({ retention_type: "zero_data_retention" });
  const metadata = { kept: model };
  const stored = await say(client, model, { store: true, metadata });
  expect(stored.headers.get("x-parlance-ignored-fields")).toContain("store");
  expect((await client.chat.completions.list({ metadata })).data).toEqual([]);
  const response = await client.responses.create({ model, input: "Badgers dig.", store: true });
  expect(response).toMatchObject({ store: false, output_text: expect.stringContaining("Badgers") });
  await expect(client.responses.retrieve(response.id)).rejects.toMatchObject({ status: 404 });
  const answered = await say(client, model);
  await admin.dataRetention.update({ retention_type: "none" as Retention });
  const sentinel = await say(otherClient, model);
  for (const { requestId } of [stored, answered]) expect(await isRecorded(requestId, sentinel.requestId)).toBe(false);
});

test("zero_data_retention refuses what works with stored content only, and keeps no answers for equal requests", async () => {
  const { id: conversation } = await client.conversations.create();
  await say(client);
  expect((await say(client)).headers.get("x-parlance-cache")).toBe("hit");
  await set("zero_data_retention");
  const refusal = { status: 400, code: "zero_data_retention" };
  const ask = { model: "local", input: "Badgers dig." };
  const background = client.responses.create({ ...ask, background: true });
  await expect(background).rejects.toMatchObject({ ...refusal, param: "background" });
  const continued = client.responses.create({ ...ask, conversation });
  await expect(continued).rejects.toMatchObject({ ...refusal, param: "conversation" });
  await expect(client.conversations.create()).rejects.toMatchObject(refusal);
  const items = [{ type: "message" as const, role: "user" as const, content: "Badgers dig." }];
  await expect(client.conversations.items.create(conversation, { items })).rejects.toMatchObject(refusal);
  expect((await say(client)).headers.get("x-parlance-cache")).not.toBe("hit");
  expect((await client.conversations.retrieve(conversation)).id).toBe(conversation);
  await client.conversations.delete(conversation);
  expect(other).not.toBe(project);
});
