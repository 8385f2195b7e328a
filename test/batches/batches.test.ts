/** Batches through the official client, on both databases. */

import type OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DATABASE_KINDS, useDatabases } from "../support/databases/databases.ts";
import {
  startWebhookReceiver,
  WEBHOOK_SECRET,
  type WebhookReceiver,
} from "../support/observability/webhook-receiver.ts";
import { chatLine, createBatch, readAnswers, readLines, untilEnded, uploadLines } from "../support/service/batches.ts";
import { eventually } from "../support/service/eventually.ts";
import { slotsInUse } from "../support/service/limit-load.ts";
import { type Service, startService } from "../support/service/service.ts";
import { administrator } from "../support/service/team-services.ts";

const config = (webhookUrl: string) => `
webhooks: [{ url: "${webhookUrl}", secret: ${WEBHOOK_SECRET}, events: [batch.completed, batch.failed] }]
builtin_models: false
batches: { max_lines: 500 }
models:
  - id: parrot
    task: chat
    price: { prompt: "0.000001", completion: "0.000004" }
    batch_price: { prompt: "0.0000005", completion: "0.000002" }
    deployments: [{ engine: scripted, echo: true, slots: 2 }]
  - id: slow
    task: chat
    deployments: [{ engine: scripted, slots: 2, replies: [{ text: Slow., delay_ms_before_first: 300 }] }]
  - id: single
    task: chat
    price: { request: "0.1" }
    deployments: [{ engine: scripted, slots: 1, replies: [{ text: Once., delay_ms_before_first: 700 }] }]
  - id: limited
    task: chat
    deployments: [{ engine: scripted, echo: true }]
  - id: painter
    task: image
    deployments: [{ engine: scripted, echo: true }]
`;
const databases = useDatabases();

describe.each(DATABASE_KINDS)("on %s", (kind) => {
  let service: Service;
  let client: OpenAI;
  let webhooks: WebhookReceiver;
  beforeAll(async () => {
    webhooks = await startWebhookReceiver();
    const { url } = await databases.create(kind);
    const environment: Record<string, string> = url === undefined ? {} : { DATABASE_URL: url.reveal() };
    service = await startService({ config: config(webhooks.url), environment });
    client = service.client({ maxRetries: 0 });
  });
  afterAll(async () => {
    await service?.stop();
    await webhooks?.[Symbol.asyncDispose]();
  });

  test("generates images", async () => {
    const body = { model: "painter", prompt: "A bird", size: "64x64" };
    const line = { custom_id: "a", method: "POST", url: "/v1/images/generations", body };
    const batch = await untilEnded(client, await createBatch(client, [line], { endpoint: "/v1/images/generations" }));
    expect(batch.request_counts).toEqual({ total: 1, completed: 1, failed: 0 });
    const [answer] = await readLines(client, batch.output_file_id);
    expect(answer?.response?.body).toMatchObject({ data: [{ b64_json: expect.any(String) }] });
  });

  test("answers each line once, in the output file or in the error file", async () => {
    const lines = [
      ...Array.from({ length: 40 }, (_, index) => chatLine(`ok-${index}`, `Line ${index}`)),
      chatLine("unknown-model", "Hi", "nope"),
      { ...chatLine("bad-body", "Hi"), body: { model: "parrot", messages: "none" } },
    ];
    const created = await createBatch(client, lines, { metadata: { job: "nightly" } });
    expect(created).toMatchObject({ object: "batch", status: "validating", metadata: { job: "nightly" } });
    const batch = await untilEnded(client, created);
    expect(batch).toMatchObject({
      status: "completed",
      endpoint: "/v1/chat/completions",
      request_counts: { total: 42, completed: 40, failed: 2 },
    });
    expect(batch).not.toHaveProperty("errors");
    expect(batch.usage?.input_tokens).toBeGreaterThanOrEqual(40);
    expect(batch.usage?.output_tokens).toBeGreaterThanOrEqual(40);
    expect(batch.usage?.total_tokens).toBe(Number(batch.usage?.input_tokens) + Number(batch.usage?.output_tokens));
    expect(batch.completed_at).toBeGreaterThanOrEqual(batch.in_progress_at ?? Number.NaN);
    expect(batch.expires_at).toBe(batch.created_at + 86_400);
    const answers = await readAnswers(client, batch);
    expect([...answers].sort()).toEqual(
      Array.from({ length: 40 }, (_, index) => [`ok-${index}`, `Line ${index}`]).sort(),
    );
    const errors = await readLines(client, batch.error_file_id);
    expect(errors.map(({ custom_id, response }) => [custom_id, response?.status_code]).sort()).toEqual([
      ["bad-body", 400],
      ["unknown-model", 404],
    ]);
    const output = await client.files.retrieve(batch.output_file_id ?? "");
    expect(output).toMatchObject({ purpose: "batch_output", filename: `${batch.id}_output.jsonl` });
    await expect.poll(() => webhooks.ofType("batch.completed").map(({ data }) => data.id)).toContain(batch.id);
  });

  test("answers lines of the Responses API", async () => {
    const line = {
      custom_id: "a",
      method: "POST",
      url: "/v1/responses",
      body: { model: "parrot", input: "Hello", store: false },
    };
    const batch = await untilEnded(client, await createBatch(client, [line], { endpoint: "/v1/responses" }));
    const [answer] = await readLines(client, batch.output_file_id);
    expect(answer?.response?.body).toMatchObject({ object: "response", status: "completed" });
  });

  test("names the lines of an invalid input", async () => {
    const lines = [
      chatLine("a", "One"),
      "{ not json",
      "",
      chatLine("a", "Two"),
      { ...chatLine("b", "Three"), method: "GET" },
      { ...chatLine("c", "Four"), url: "/v1/embeddings" },
      { method: "POST", url: "/v1/chat/completions", body: { model: "parrot" } },
      { ...chatLine("d", "Five"), body: { model: "parrot", messages: [], stream: true } },
    ];
    const batch = await untilEnded(client, await createBatch(client, lines));
    expect(batch).toMatchObject({ status: "failed", request_counts: { total: 0 } });
    expect(batch).not.toHaveProperty("output_file_id");
    expect(batch.failed_at).toEqual(expect.any(Number));
    expect(batch.errors?.data?.map(({ line, code, param }) => [line, code, param])).toEqual([
      [2, "invalid_json_line", null],
      [4, "duplicate_custom_id", "custom_id"],
      [5, "invalid_value", "method"],
      [6, "mismatched_endpoint", "url"],
      [7, "missing_required_parameter", "custom_id"],
      [8, "invalid_value", "body.stream"],
    ]);
  });

  test.each([
    ["no requests", ["", "  "], "empty_file", null],
    ["too many requests", Array.from({ length: 501 }, (_, index) => chatLine(`${index}`, "Hi")), "too_many_tasks", 501],
  ])("fails a batch with %s", async (_name, lines, code, line) => {
    const batch = await untilEnded(client, await createBatch(client, lines));
    expect(batch).toMatchObject({ status: "failed", errors: { data: [{ code, line }] } });
  });

  test("refuses a batch that cannot be run", async () => {
    const input = await uploadLines(client, [chatLine("a", "Hi")]);
    const create = (fields: object) =>
      client.batches.create({
        input_file_id: input,
        endpoint: "/v1/chat/completions",
        completion_window: "24h",
        ...fields,
      } as OpenAI.BatchCreateParams);
    await expect(create({ input_file_id: "file-none" })).rejects.toMatchObject({ status: 400, param: "input_file_id" });
    await expect(create({ endpoint: "/v1/audio/speech" })).rejects.toMatchObject({ status: 400, param: "endpoint" });
    await expect(create({ completion_window: "1y" })).rejects.toMatchObject({
      status: 400,
      param: "completion_window",
    });
    await expect(client.batches.retrieve("batch_none")).rejects.toMatchObject({ status: 404 });
  });

  test("cancels a batch and keeps what was answered", async () => {
    const lines = Array.from({ length: 100 }, (_, index) => chatLine(`${index}`, "Hi", "slow"));
    const { id, input_file_id } = await createBatch(client, lines);
    await eventually(async () => {
      const { request_counts: counts } = await client.batches.retrieve(id);
      expect(counts?.completed).toBeGreaterThan(0);
    });
    await expect(client.files.delete(input_file_id)).rejects.toMatchObject({ status: 409 });
    expect(["cancelling", "cancelled"]).toContain((await client.batches.cancel(id)).status);
    const batch = await untilEnded(client, { id });
    expect(batch.status).toBe("cancelled");
    const answered = await readLines(client, batch.output_file_id);
    const left = await readLines(client, batch.error_file_id);
    expect(answered.length).toBeGreaterThan(0);
    expect(left.every(({ error }) => error?.code === "batch_cancelled")).toBe(true);
    const ids = [...answered, ...left].map(({ custom_id }) => Number(custom_id)).sort((a, b) => a - b);
    expect(ids).toEqual(lines.map((_, index) => index));
    expect(batch.request_counts).toEqual({ total: 100, completed: answered.length, failed: left.length });
    await expect(client.batches.cancel(id)).rejects.toMatchObject({ status: 409 });
    await client.files.delete(input_file_id);
  });

  test("expires a batch at the end of its window", async () => {
    const lines = Array.from({ length: 60 }, (_, index) => chatLine(`${index}`, "Hi", "slow"));
    const batch = await untilEnded(client, await createBatch(client, lines, { completion_window: "1s" }));
    expect(batch.status).toBe("expired");
    const left = await readLines(client, batch.error_file_id);
    expect(left[0]?.error?.code).toBe("batch_expired");
    expect((batch.request_counts?.completed ?? 0) + left.length).toBe(60);
  });

  test("keeps batches of other projects apart", async () => {
    const own = await createBatch(client, [chatLine("a", "Hi")]);
    const admin = administrator(service);
    const project = await admin.projects.create({ name: "Other" });
    const account = await admin.projects.serviceAccounts.create(project.id, { name: "other" });
    const stranger = service.client({ apiKey: account.api_key?.value ?? "", maxRetries: 0 });
    await expect(stranger.batches.retrieve(own.id)).rejects.toMatchObject({ status: 404 });
    await expect(stranger.batches.cancel(own.id)).rejects.toMatchObject({ status: 404 });
    expect((await stranger.batches.list()).data).toEqual([]);
    const input = { input_file_id: own.input_file_id };
    await expect(createBatch(stranger, [chatLine("a", "Hi")], input)).rejects.toMatchObject({ status: 400 });
    const batch = await untilEnded(client, own);
    await expect(stranger.files.content(batch.output_file_id ?? "")).rejects.toMatchObject({ status: 404 });
    const listed = await Array.fromAsync(client.batches.list({ limit: 2 }));
    expect(listed[0]?.id).toBe(own.id);
  });

  test("waits for a rate limit instead of failing a line", async () => {
    const admin = administrator(service);
    const { data: projects } = await admin.projects.list();
    const projectId = projects.find(({ name }) => name === "Default project")?.id ?? "";
    const limits = await Array.fromAsync(admin.projects.rateLimits.listRateLimits(projectId));
    const limit = limits.find(({ model }) => model === "limited");
    // One line at a time: the others are refused.
    const change = { project_id: projectId, max_concurrent_requests: 1 };
    await admin.projects.rateLimits.updateRateLimit(limit?.id ?? "", change as never);
    const lines = Array.from({ length: 6 }, (_, index) => chatLine(`${index}`, `Hi ${index}`, "limited"));
    const batch = await untilEnded(client, await createBatch(client, lines));
    expect(batch).toMatchObject({ status: "completed", request_counts: { completed: 6, failed: 0 } });
  });

  test("records usage of lines at the batch price", async () => {
    const admin = administrator(service);
    const start_time = Math.floor(Date.now() / 1000);
    // Lines of earlier tests may be summed between two reads.
    const project = await admin.projects.create({ name: "Priced" });
    const account = await admin.projects.serviceAccounts.create(project.id, { name: "priced" });
    const own = service.client({ apiKey: account.api_key?.value ?? "", maxRetries: 0 });
    const read = async () => {
      const about = { start_time, limit: 2, project_ids: [project.id] };
      const [used, costs] = await Promise.all([admin.usage.completions(about), admin.usage.costs(about)]);
      const results = used.data.flatMap(
        (bucket) => bucket.results as { input_tokens: number; output_tokens: number }[],
      );
      const amounts = costs.data.flatMap((bucket) => bucket.results as { amount?: { value: number } }[]);
      return {
        prompt: results.reduce((sum, { input_tokens: tokens }) => sum + tokens, 0),
        completion: results.reduce((sum, { output_tokens: tokens }) => sum + tokens, 0),
        dollars: amounts.reduce((sum, { amount }) => sum + Number(amount?.value ?? 0), 0),
      };
    };
    await untilEnded(own, await createBatch(own, [chatLine("a", "one two three")]));
    await eventually(async () => {
      const { prompt, completion, dollars } = await read();
      expect(completion).toBeGreaterThan(0);
      expect(dollars).toBeCloseTo(prompt * 0.0000005 + completion * 0.000002, 9);
    });
  });

  test("charges a line once that gave its slot to an interactive request", async () => {
    const admin = administrator(service);
    const project = await admin.projects.create({ name: "Preempted" });
    const account = await admin.projects.serviceAccounts.create(project.id, { name: "preempted" });
    const own = service.client({ apiKey: account.api_key?.value ?? "", maxRetries: 0 });
    const batch = await createBatch(own, [chatLine("a", "Hi.", "single")]);
    await eventually(async () => expect(await slotsInUse(service, "single")).toBe(1));
    await own.chat.completions.create({ model: "single", messages: [{ role: "user", content: "At once." }] });
    expect(await untilEnded(own, batch)).toMatchObject({ request_counts: { completed: 1, failed: 0 } });
    const path = `/v1/organization/requests?project_ids=${project.id}&models=single`;
    const answer = await service.fetch(path, { headers: { authorization: `Bearer ${service.adminKey}` } });
    const { data } = (await answer.json()) as { data: { status: number; cost_usd: number | null }[] };
    const costs = data.map(({ status, cost_usd: cost }) => [status, cost]).sort(([a], [b]) => Number(a) - Number(b));
    expect(costs).toEqual([
      [200, 0.1],
      [200, 0.1],
      [499, 0],
    ]);
  });

  test("fails a batch whose key is revoked", async () => {
    const admin = administrator(service);
    const project = await admin.projects.create({ name: "Short-lived" });
    const account = await admin.projects.serviceAccounts.create(project.id, { name: "short" });
    const temporary = service.client({ apiKey: account.api_key?.value ?? "", maxRetries: 0 });
    const other = await service.post(
      `/v1/organization/projects/${project.id}/service_accounts/${account.id}/api_keys`,
      { name: "second" },
      { headers: { authorization: `Bearer ${service.adminKey}` } },
    );
    const second = service.client({ apiKey: ((await other.json()) as { value: string }).value, maxRetries: 0 });
    const lines = Array.from({ length: 100 }, (_, index) => chatLine(`${index}`, "Hi", "slow"));
    const { id } = await createBatch(temporary, lines);
    await eventually(async () => expect((await second.batches.retrieve(id)).status).toBe("in_progress"));
    await admin.projects.apiKeys.delete(account.api_key?.id ?? "", { project_id: project.id });
    const batch = await untilEnded(second, { id });
    expect(batch).toMatchObject({ status: "failed", errors: { data: [{ code: "invalid_api_key" }] } });
  });
});
