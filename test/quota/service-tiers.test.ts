/** Service tiers that a project may use and gives its requests, through the official clients, with workers. */

import Anthropic from "@anthropic-ai/sdk";
import type OpenAI from "openai";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type EchoUpstream, startEchoUpstream } from "../support/guardrails/echo-upstream.ts";
import { type ServiceProcess, startServiceProcess } from "../support/service/service-process.ts";
import { administrator } from "../support/service/team-services.ts";
import { deploymentAt } from "../support/upstreams/deployment-at.ts";

let upstream: EchoUpstream;
let service: ServiceProcess;
let settings: ReturnType<typeof administrator>["projects"]["serviceTierSettings"];
let project: string;
let key: string;
let client: OpenAI;
beforeAll(async () => {
  upstream = await startEchoUpstream();
  const forwarded = deploymentAt(upstream, "echo");
  service = await startServiceProcess({
    config: `
builtin_models: false
server: { workers: 2 }
models:
  - { id: forwarded, task: chat, deployments: [${forwarded}] }
  - { id: defaults, task: chat, defaults: { temperature: 0.5 }, deployments: [${forwarded}] }
  - { id: local, task: chat, deployments: [{ engine: scripted, echo: true }] }
`,
  });
  const { projects } = administrator(service);
  settings = projects.serviceTierSettings;
  project = (await projects.create({ name: "Team" })).id;
  key = (await projects.serviceAccounts.create(project, { name: "App" })).api_key?.value ?? "";
  client = service.client({ apiKey: key, maxRetries: 0 });
});
afterAll(async () => {
  await service.stop();
  await upstream[Symbol.asyncDispose]();
});
beforeEach(() => settings.update(project, { default: "standard", enabled_tiers: "all" }));

type Tier = OpenAI.ChatCompletionCreateParams["service_tier"];

/** Returns the tier that the upstream got. */
async function sent(request: Promise<unknown>): Promise<unknown> {
  upstream.take();
  await request;
  return JSON.parse(/\{.*/.exec(upstream.take())?.[0] ?? "{}").service_tier;
}
const chat = (service_tier?: Tier, model = "forwarded") =>
  client.chat.completions.create({
    model,
    messages: [{ role: "user", content: "Hello" }],
    ...(service_tier !== undefined && { service_tier }),
  });

test("reads and changes the settings, one by one, with audit", async () => {
  const all = { object: "project.service_tier_settings", default: "standard", enabled_tiers: "all" };
  expect(await settings.retrieve(project)).toEqual(all);
  expect(await settings.update(project, { default: "fast" })).toEqual({ ...all, default: "fast" });
  const both = { ...all, default: "fast", enabled_tiers: ["flex"] };
  expect(await settings.update(project, { enabled_tiers: ["flex", "flex"] })).toEqual(both);
  expect(await settings.retrieve(project)).toEqual(both);
  const { data } = await administrator(service).auditLogs.list({ project_ids: [project], limit: 2 });
  expect(data.map((event) => event["project.updated"]?.changes_requested)).toEqual([
    { service_tier_settings: { enabled_tiers: ["flex"] } },
    { service_tier_settings: { default: "fast" } },
  ]);
});

test.each([[{}], [{ default: "flex" }], [{ enabled_tiers: ["scale"] }], [{ enabled: [] }]])(
  "refuses %j",
  async (body) => {
    await expect(settings.update(project, body as never)).rejects.toMatchObject({ status: 400 });
    await expect(settings.retrieve("proj_none")).rejects.toMatchObject({ status: 404 });
  },
);

test("leaves requests as they are without settings of the project", async () => {
  expect(await sent(chat())).toBeUndefined();
  expect(await sent(chat("auto"))).toBe("auto");
  expect(await sent(chat("flex"))).toBe("flex");
});

test("refuses tiers that are not enabled, in each format, and names those that are", async () => {
  await settings.update(project, { enabled_tiers: ["flex"] });
  expect(await sent(chat("flex"))).toBe("flex");
  expect(await sent(chat("default"))).toBe("default");
  const refusal = { status: 403, code: "service_tier_not_enabled", param: "service_tier" };
  for (const tier of ["priority", "fast", "scale", "none-such"]) {
    await expect(chat(tier as Tier)).rejects.toMatchObject({ ...refusal, message: expect.stringContaining("flex") });
    const response = client.responses.create({ model: "local", input: "Hello", service_tier: tier as never });
    await expect(response).rejects.toMatchObject(refusal);
  }
  const gemini = await service.fetch("/v1beta/models/forwarded:generateContent", {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ contents: [{ parts: [{ text: "Hello" }] }], serviceTier: "priority" }),
  });
  expect(gemini.status).toBe(403);
  const anthropic = new Anthropic({ baseURL: service.origin, apiKey: key, maxRetries: 0 });
  const message = { model: "forwarded", max_tokens: 20, messages: [{ role: "user" as const, content: "Hello" }] };
  expect(await sent(anthropic.messages.create({ ...message, service_tier: "standard_only" }))).toBe("default");
  const fast = { ...message, speed: "fast" as const };
  await expect(anthropic.beta.messages.create(fast as never)).rejects.toMatchObject({ status: 403 });
  expect(await sent(anthropic.beta.messages.create({ ...message, speed: "standard" } as never))).toBeUndefined();
});

test.each(["forwarded", "defaults"])("gives requests without a tier that of the project: %s", async (model) => {
  await settings.update(project, { default: "fast", enabled_tiers: [] });
  expect(await sent(chat(undefined, model))).toBe("priority");
  expect(await sent(chat("auto", model))).toBe("priority");
  expect(await sent(chat("priority", model))).toBe("priority");
  expect(await sent(client.responses.create({ model, input: "Hello" }))).toBe("priority");
  expect(
    await sent(client.chat.completions.create({ model, messages: [{ role: "user", content: "x".repeat(70_000) }] })),
  ).toBe("priority");
  await expect(chat("flex", model)).rejects.toMatchObject({ status: 403 });
  expect((await chat(undefined, "local")).choices[0]?.message.content).toContain("Hello");
});
