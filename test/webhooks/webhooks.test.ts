/** Webhooks of a real service: keys, spend, a deployment that fails, and a restart while the receiver refuses. */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import OpenAI from "openai";
import { afterAll, beforeAll, expect, test } from "vitest";
import { sharedPostgres } from "../support/databases/postgres.ts";
import {
  startWebhookReceiver,
  WEBHOOK_SECRET,
  type WebhookReceiver,
} from "../support/observability/webhook-receiver.ts";
import { eventually } from "../support/service/eventually.ts";
import { type Service, startService } from "../support/service/service.ts";

const cleanup = new AsyncDisposableStack();
let receiver: WebhookReceiver;
let service: Service;
let isUpstreamBroken = false;
let start: () => Promise<Service>;

beforeAll(async () => {
  receiver = cleanup.use(await startWebhookReceiver());
  const upstream = createServer((_request, response) => {
    const answer = {
      id: "a",
      object: "chat.completion",
      created: 1,
      model: "far",
      choices: [{ index: 0, message: { role: "assistant", content: "Hm." }, finish_reason: "stop" }],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    };
    response.writeHead(isUpstreamBroken ? 500 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => upstream.listen(0, "127.0.0.1", resolve));
  cleanup.defer(() => void upstream.close());
  const { port } = upstream.address() as AddressInfo;
  const postgres = await sharedPostgres();
  const url = await postgres.createDatabase();
  const config = `
builtin_models: false
webhooks:
  - { url: "${receiver.url}", secret: "\${WEBHOOK_SECRET}" }
models:
  - { id: parrot, task: chat, price: { completion: "0.1" }, deployments: [{ engine: scripted, replies: [{ text: Polly }] }] }
  - id: thinker
    task: chat
    deployments:
      - engine: scripted
        replies:
          - { match: fail, text: "one two", fail_after_tokens: 1, fail_with: { kind: upstream-failed } }
          - { match: slow, text: "one", delay_ms_before_first: 600000 }
          - { text: "one two three four" }
  - id: far
    task: chat
    retries: 0
    circuit: { failures: 1, cooldown_seconds: 1 }
    deployments: [{ engine: openai-compatible, base_url: "http://127.0.0.1:${port}/v1" }]
`;
  start = () =>
    startService({
      config,
      environment: { DATABASE_URL: url.reveal(), WEBHOOK_SECRET, PARLANCE_ENCRYPTION_KEY: "e".repeat(40) },
    });
  service = await start();
});

afterAll(async () => {
  await service?.stop();
  await cleanup.disposeAsync();
});

function administrator() {
  return new OpenAI({ baseURL: service.baseUrl, apiKey: null, adminAPIKey: service.adminKey }).admin.organization;
}

const say = (model: string) =>
  service.post("/v1/chat/completions", {
    model,
    messages: [{ role: "user", content: "Hm." }],
    max_completion_tokens: 1,
  });

test("reports a key that is created and one that is revoked", async () => {
  const key = await administrator().adminAPIKeys.create({ name: "Deploy" });
  await administrator().adminAPIKeys.delete(key.id);
  await eventually(() => expect(receiver.ofType("api_key.deleted")).toHaveLength(1));
  // Deliveries have no order.
  const created = () => receiver.ofType("api_key.created").find(({ data }) => data.id === key.id);
  await eventually(() => expect(created()).toBeDefined());
  expect(created()?.data).toMatchObject({
    name: "Deploy",
    kind: "admin",
    organization_id: expect.stringMatching(/^org_/),
  });
  expect(receiver.ofType("api_key.deleted")[0]?.data).toMatchObject({ id: key.id });
  expect(JSON.stringify(receiver.received)).not.toContain(key.value);
});

test("lists endpoints and deliveries for administrators, tests an endpoint, and sends an event again", async () => {
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  const call = async (method: string, path: string, body?: unknown): Promise<any> => {
    const headers = { authorization: `Bearer ${service.adminKey}`, "content-type": "application/json" };
    const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
    return (await service.fetch(`/v1/organization/webhooks${path}`, init)).json();
  };
  expect(await call("GET", "")).toMatchObject({ data: [{ url: receiver.url, events: expect.any(Array) }] });
  const { delivery_id: id } = await call("POST", "/test", { url: receiver.url });
  const delivery = async () => {
    const { data } = await call("GET", `/deliveries?url=${encodeURIComponent(receiver.url)}&state=delivered`);
    return data.find((each: { id: string }) => each.id === id);
  };
  await eventually(async () => expect(await delivery()).toMatchObject({ type: "webhook.test", status: 200 }));
  const tests = () => receiver.ofType("webhook.test");
  expect(tests()).toMatchObject([{ data: { message: expect.any(String) } }]);
  expect(await delivery()).toMatchObject({ payload: tests()[0]?.sent.body, attempts: 1, answer: "" });
  expect(await call("POST", `/deliveries/${id}/retry`)).toMatchObject({ id, type: "webhook.test" });
  await eventually(() => expect(tests()).toHaveLength(2));
  expect(tests()[1]?.id).toBe(tests()[0]?.id);
  expect(await call("POST", "/test", { url: "http://127.0.0.1:9/" })).toMatchObject({
    error: { code: "webhook_not_found", param: "url" },
  });
  expect((await service.fetch("/v1/organization/webhooks")).status).toBe(403);
});

test("reports 50, 80 and 100 % of a spend limit", async () => {
  const [project] = (await administrator().projects.list()).data;
  const limit = { currency: "USD", interval: "month", threshold_amount: 100 } as const;
  await administrator().projects.spendLimit.update(project?.id ?? "", limit);
  const percents = () => receiver.ofType("spend_limit.reached").map(({ data }) => data.percent);
  for (const [requests, expected] of [
    [5, [50]],
    [3, [50, 80]],
    [2, [50, 80, 100]],
  ] as const) {
    for (let request = 0; request < requests; request += 1) expect((await say("parrot")).status).toBe(200);
    await eventually(() => expect(percents()).toEqual(expected));
  }
  expect((await say("parrot")).status).toBe(429);
  await administrator().projects.spendLimit.delete(project?.id ?? "");
});

test("reports a deployment that fails, and its return", async () => {
  isUpstreamBroken = true;
  expect((await say("far")).ok).toBe(false);
  await eventually(() => expect(receiver.ofType("deployment.down")).toHaveLength(1));
  expect(receiver.ofType("deployment.down")[0]?.data).toMatchObject({ model: "far", reason: "repeated failures" });
  isUpstreamBroken = false;
  await eventually(async () => {
    await say("far");
    expect(receiver.ofType("deployment.up")).toHaveLength(1);
  });
});

test("reports the end of responses in the background, as OpenAI's client reads it", async () => {
  const client = service.client();
  const begin = (input: string, more: object = {}) =>
    client.responses.create({ model: "thinker", input, background: true, ...more });
  const ended = {
    "response.completed": await begin("Hello"),
    "response.incomplete": await begin("Hello", { max_output_tokens: 2 }),
    "response.failed": await begin("fail"),
    "response.cancelled": await begin("slow"),
  };
  await client.responses.cancel(ended["response.cancelled"].id);
  await client.responses.cancel(ended["response.cancelled"].id);
  for (const [type, { id }] of Object.entries(ended)) {
    await eventually(() => expect(receiver.ofType(type).map(({ data }) => data.id)).toEqual([id]));
    const { body, headers } = receiver.ofType(type)[0]?.sent ?? { body: "", headers: {} };
    const event = await client.webhooks.unwrap(body, headers, WEBHOOK_SECRET);
    expect(event).toMatchObject({ object: "event", type, data: { id }, created_at: expect.any(Number) });
  }
});

test("delivers after a restart what the receiver refused before it", async () => {
  receiver.answerWith(503);
  const key = await administrator().adminAPIKeys.create({ name: "Restarted" });
  await eventually(() => expect(receiver.refused).toHaveLength(1));
  await service.stop();
  service = await start();
  const accepted = () => receiver.ofType("api_key.created").filter(({ data }) => data.id === key.id);
  await eventually(() => expect(accepted()).toHaveLength(1));
  expect(accepted()[0]?.id).toBe(receiver.refused[0]);
  const metrics = await (await service.fetch("/metrics")).text();
  expect(metrics).toMatch(/parlance_webhook_attempts_total\{event="api_key.created",outcome="delivered"\} 1/);
});
