/** The history of requests, the overview and usage, as an administrator and as a project see them. */

import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/service/eventually.ts";
import { type Service, startService } from "../support/service/service.ts";
import { startWordEmbedder, type WordEmbedder } from "../support/vector-stores/word-embedder.ts";

let service: Service;
let embedder: WordEmbedder;
let other: { id: string; key: string };

beforeAll(async () => {
  embedder = await startWordEmbedder();
  service = await startService({
    config: `builtin_models: false
models:
  - { id: echo, task: chat, price: { prompt: "0.001", completion: "0.002" }, deployments: [{ engine: scripted, echo: true }] }
  - { id: vectors, task: embedding, deployments: [{ engine: openai-compatible, base_url: "${embedder.url}", model: words }] }
  - { id: crier, task: speech, deployments: [{ engine: scripted, speech: {} }] }
`,
  });
  const project = await send("POST", "/projects", { name: "Other" });
  const account = await send("POST", `/projects/${project.id}/service_accounts`, { name: "Bot" });
  other = { id: project.id, key: account.api_key.value };
  const ask = (key: string, model: string) =>
    service
      .client({ apiKey: key })
      .chat.completions.create({ model, messages: [{ role: "user", content: "secret words" }] })
      .catch(() => {});
  await ask(service.apiKey, "echo");
  await ask(service.apiKey, "missing");
  await ask(other.key, "echo");
});
afterAll(async () => {
  await service.stop();
  await embedder[Symbol.asyncDispose]();
});

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
async function send(method: string, path: string, body?: unknown, key = service.adminKey): Promise<any> {
  const response = await fetch(`${service.baseUrl}/organization${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: body === undefined ? null : JSON.stringify(body),
  });
  return response.json();
}

const modelsOf = (page: { data: { model: string }[] }) => page.data.map(({ model }) => model);

test("lists the metadata of requests, newest first, without their content", async () => {
  const page = await send("GET", "/requests");
  expect(modelsOf(page)).toEqual(["echo", "missing", "echo"]);
  const [newest, failed] = page.data;
  expect(newest).toMatchObject({
    operation: "chat/completions",
    project_id: other.id,
    answered_by: "echo",
    status: 200,
    outcome: "finished",
    error: null,
    attempts: 1,
    output_tokens: expect.any(Number),
    first_token_ms: expect.any(Number),
    cost_usd: expect.any(Number),
  });
  expect(failed).toMatchObject({ status: 404, error: "model_not_found", answered_by: null, outcome: null });
  expect(JSON.stringify(page)).not.toContain("secret words");
});

test("filters and pages", async () => {
  expect(modelsOf(await send("GET", "/requests?status=failed"))).toEqual(["missing"]);
  expect(modelsOf(await send("GET", `/requests?project_ids=${other.id}`))).toEqual(["echo"]);
  expect(modelsOf(await send("GET", "/requests?models=missing,unknown"))).toEqual(["missing"]);
  const first = await send("GET", "/requests?limit=2");
  expect(first).toMatchObject({ has_more: true });
  const second = await send("GET", `/requests?limit=2&page=${first.next_page}`);
  expect(second).toMatchObject({ has_more: false, next_page: null });
  expect([...first.data, ...second.data]).toEqual((await send("GET", "/requests")).data);
  expect(await send("GET", "/requests?page=other")).toMatchObject({ error: { param: "page" } });
});

test("sorts by a measure over all pages, within what the caller may see", async () => {
  const costs = (page: { data: { cost_usd: number | null }[] }) => page.data.map(({ cost_usd }) => cost_usd);
  const first = await send("GET", "/requests?sort_by=cost_usd&order=asc&limit=1");
  expect(first).toMatchObject({ has_more: true, next_page: expect.stringMatching(/^sorted_/) });
  const rest = await send("GET", `/requests?sort_by=cost_usd&order=asc&limit=2&page=${first.next_page}`);
  expect(rest).toMatchObject({ has_more: false, next_page: null });
  const sorted = [...costs(first), ...costs(rest)];
  expect(sorted).toEqual([expect.any(Number), expect.any(Number), null]);
  expect(sorted[0]).toBeLessThanOrEqual(sorted[1] ?? 0);
  const slowest = await send("GET", "/requests?sort_by=duration_ms", undefined, other.key);
  expect(slowest.data.map((each: { project_id: string }) => each.project_id)).toEqual([other.id]);
  for (const [query, param] of [
    ["sort_by=id", "sort_by"],
    ["order=asc", "order"],
    ["sort_by=cost_usd&stream=true", "sort_by"],
    ["sort_by=cost_usd&page=page_1_req", "page"],
    [`page=${first.next_page}`, "page"],
  ]) {
    expect([query, await send("GET", `/requests?${query}`)]).toEqual([
      query,
      { error: expect.objectContaining({ param }) },
    ]);
  }
});

test("shows a project's key its own project only", async () => {
  const own = await send("GET", "/requests", undefined, other.key);
  expect(own.data).toHaveLength(1);
  const project = own.data[0].project_id;
  expect(project).toBe(other.id);
  const all = await send("GET", "/requests");
  const foreign = all.data.find((entry: { project_id: string }) => entry.project_id !== other.id).project_id;
  expect((await send("GET", `/requests?project_ids=${foreign}`, undefined, other.key)).data).toEqual([]);
  const overview = await send("GET", "/overview", undefined, other.key);
  expect(overview.deployments).toBeNull();
  expect(requestsIn(overview)).toBe(1);
  await eventually(async () => {
    const yesterday = Math.floor(Date.now() / 1000) - 86_400;
    const costs = await send("GET", `/costs?start_time=${yesterday}&group_by=project_id`, undefined, other.key);
    const ids = costs.data.flatMap((bucket: { results: { project_id: string }[] }) =>
      bucket.results.map(({ project_id }) => project_id),
    );
    expect(new Set(ids)).toEqual(new Set([other.id]));
  });
  expect(await send("GET", "/projects", undefined, other.key)).toMatchObject({ error: { type: expect.any(String) } });
});

function requestsIn({ minutes }: { minutes: { requests: number }[] }): number {
  return minutes.reduce((sum, { requests }) => sum + requests, 0);
}

test("sums the last hour by minute and reports deployments to administrators", async () => {
  const overview = await send("GET", "/overview");
  expect(overview.minutes).toHaveLength(60);
  expect(requestsIn(overview)).toBe(3);
  expect(overview.first_token_ms.p50).toBeGreaterThanOrEqual(0);
  const answered = overview.minutes.filter(
    ({ first_token_ms }: { first_token_ms: { p95: unknown } }) => first_token_ms.p95 !== null,
  );
  expect(answered.length).toBeGreaterThanOrEqual(1);
  expect(overview.minutes.every(({ retries }: { retries: number }) => retries === 0)).toBe(true);
  expect(overview.output_tokens_per_second).toBeGreaterThanOrEqual(0);
  expect(overview.deployments).toHaveLength(3);
  const echo = { model: "echo", host: null, state: "up", circuit: "closed", waiting: 0, restarted_at: null };
  expect(overview.deployments[0]).toMatchObject(echo);
  expect(overview.deployments[0].loaded_at).toBeGreaterThan(overview.minutes[0].start_time - 3600);
});

test("shows each spend limit with what its owner spent, and hides the organization's spend from a project", async () => {
  const limit = { currency: "USD", interval: "month", threshold_amount: 500 };
  await send("POST", "/spend_limit", limit);
  await send("POST", `/projects/${other.id}/spend_limit`, { ...limit, threshold_amount: 100 });
  await eventually(async () => {
    const { spend } = await send("GET", "/overview");
    expect(spend.limits).toMatchObject([{ scope: "organization", threshold_usd: 5, enforced: true }]);
    expect(spend.limits[0].month_usd).toBe(spend.month_usd);
    expect(spend.month_usd).toBeGreaterThan(0);
    const own = await send("GET", "/overview", undefined, other.key);
    const byScope = Object.fromEntries(own.spend.limits.map((each: { scope: string }) => [each.scope, each]));
    expect(byScope.organization).toMatchObject({ threshold_usd: 5, month_usd: null });
    expect(byScope.project).toMatchObject({ scope_id: other.id, threshold_usd: 1, month_usd: own.spend.month_usd });
  });
});

test("reads an overview at most once a second for each key", async () => {
  const read = async () => requestsIn(await send("GET", "/overview", undefined, other.key));
  const client = service.client({ apiKey: other.key });
  // An attempt may take longer than a second.
  await eventually(async () => {
    const before = await read();
    await client.chat.completions.create({ model: "echo", messages: [{ role: "user", content: "x" }] });
    expect(await read()).toBe(before);
  });
});

test("follows new requests as events", async () => {
  const abort = new AbortController();
  const response = await fetch(`${service.baseUrl}/organization/requests?stream=true`, {
    headers: { authorization: `Bearer ${service.adminKey}` },
    signal: abort.signal,
  });
  expect(response.headers.get("content-type")).toContain("text/event-stream");
  const reader = (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader();
  await service
    .client()
    .chat.completions.create({ model: "followed", messages: [{ role: "user", content: "x" }] })
    .catch(() => {});
  let text = "";
  while (!text.includes('"model":"followed"')) {
    const { value, done } = await reader.read();
    expect(done).toBe(false);
    text += value;
  }
  abort.abort();
});

test("refuses the seventeenth stream of a project, and no other project's", async () => {
  const leaving = new AbortController();
  const follow = async (key: string) => {
    const headers = { authorization: `Bearer ${key}` };
    return fetch(`${service.baseUrl}/organization/requests?stream=true`, { headers, signal: leaving.signal });
  };
  const streams = await Promise.all(Array.from({ length: 16 }, () => follow(other.key)));
  expect(new Set(streams.map(({ status }) => status))).toEqual(new Set([200]));
  expect((await follow(other.key)).status).toBe(429);
  expect((await follow(service.apiKey)).status).toBe(200);
  leaving.abort();
  await eventually(async () => {
    const response = await fetch(`${service.baseUrl}/organization/requests?stream=true`, {
      headers: { authorization: `Bearer ${other.key}` },
    });
    await response.body?.cancel();
    expect(response.status).toBe(200);
  });
});

test("ends a stream once its key is revoked", async () => {
  const project = await send("POST", "/projects", { name: "Leaving" });
  const account = await send("POST", `/projects/${project.id}/service_accounts`, { name: "Bot" });
  const response = await fetch(`${service.baseUrl}/organization/requests?stream=true`, {
    headers: { authorization: `Bearer ${account.api_key.value}` },
  });
  expect(response.status).toBe(200);
  await send("DELETE", `/projects/${project.id}/api_keys/${account.api_key.id}`);
  // Read to its end.
  await response.text();
});

test("filters by time, duration, cost and deployment", async () => {
  const all = await send("GET", "/requests");
  const [newest] = all.data;
  const answered = all.data.find(({ status }: { status: number }) => status === 200);
  const count = async (query: string) => (await send("GET", `/requests?${query}`)).data.length;
  expect(await count(`start_time=${newest.ended_at}`)).toBe(1);
  expect(await count(`end_time=${newest.ended_at}`)).toBe(all.data.length - 1);
  expect(await count("min_duration_ms=60000")).toBe(0);
  expect(await count(`min_cost_usd=${answered.cost_usd}`)).toBeGreaterThan(0);
  expect(await count("min_cost_usd=1000")).toBe(0);
  expect(await count(`deployments=${encodeURIComponent(answered.deployment)}`)).toBeGreaterThan(0);
  expect(await count("deployments=other")).toBe(0);
});

test("counts requests and errors by time, within 31 days", async () => {
  const now = Date.now() / 1000;
  const { data } = await send("GET", `/requests/histogram?start_time=${now - 3600}&end_time=${now + 60}&buckets=30`);
  expect(data).toHaveLength(30);
  const sum = (name: "requests" | "errors") =>
    data.reduce((total: number, bucket: { requests: number; errors: number }) => total + bucket[name], 0);
  const { data: all } = await send("GET", "/requests?limit=100");
  expect(sum("requests")).toBe(all.length);
  expect(sum("errors")).toBe(all.filter(({ status }: { status: number }) => status >= 400).length);
  const slow = await send("GET", `/requests/histogram?start_time=${now - 60}&end_time=${now}&min_duration_ms=60000`);
  expect(slow.data.every(({ requests }: { requests: number }) => requests === 0)).toBe(true);
  const long = await send("GET", "/requests/histogram?start_time=0&end_time=9000000");
  expect(long).toMatchObject({ error: { param: "end_time" } });
});

test("retrieves one request, of the caller's own project only", async () => {
  const { data } = await send("GET", "/requests");
  const own = data.find(({ project_id }: { project_id: string }) => project_id === other.id);
  const details = { ...own, recorded: false, feedback: [] };
  expect(await send("GET", `/requests/${own.id}`)).toEqual(details);
  expect(await send("GET", `/requests/${own.id}`, undefined, other.key)).toEqual(details);
  const foreign = data.find(({ project_id }: { project_id: string }) => project_id !== other.id);
  for (const [id, key] of [
    ["req_missing", service.adminKey],
    [foreign.id, other.key],
  ]) {
    expect(await send("GET", `/requests/${id}`, undefined, key)).toMatchObject({ error: { code: "not_found" } });
  }
});

test("measures first tokens of generated text only, and says that usage without a price has none", async () => {
  const project = await send("POST", "/projects", { name: "Unpriced" });
  const { api_key } = await send("POST", `/projects/${project.id}/service_accounts`, { name: "Bot" });
  const client = service.client({ apiKey: api_key.value });
  await client.embeddings.create({ model: "vectors", input: "x" });
  await (
    await client.audio.speech.create({ model: "crier", input: "x", voice: "alloy", response_format: "pcm" })
  ).arrayBuffer();
  await eventually(async () => {
    const overview = await send("GET", "/overview", undefined, api_key.value);
    expect(requestsIn(overview)).toBe(2);
    expect(overview.first_token_ms).toEqual({ p50: null, p95: null });
    const none = { today_usd: 0, month_usd: 0, today_unpriced: true, month_unpriced: true };
    expect(overview.spend).toMatchObject(none);
  });
  const priced = await send("GET", "/overview", undefined, other.key);
  expect(priced.spend).toMatchObject({ today_unpriced: false, month_unpriced: false });
});
