/** POST /v1/embeddings with the real default model and with an upstream, through the official client. */

import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { Tiktoken } from "js-tiktoken/lite";
import ranks from "js-tiktoken/ranks/cl100k_base";
import OpenAI, { APIError } from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import reference from "../recordings/all-minilm-l6-v2.json" with { type: "json" };
import { eventually } from "../support/service/eventually.ts";
import { type Service, startService } from "../support/service/service.ts";

const LOCAL = "minilm";
const ALIAS = "text-embedding-3-small";
const LONG = "the quick brown fox jumps over the lazy dog ".repeat(100);

interface Asked {
  model: string;
  input: (string | number[])[];
  dimensions?: number;
  encoding_format?: string;
  user?: string;
}

let upstream: Server;
let asked: Asked[] = [];
let service: Service;
beforeAll(async () => {
  upstream = createServer(async (request, response) => {
    const body = (await json(request)) as Asked;
    asked.push(body);
    const vector = (index: number) => Float32Array.of(index, 0.5, -1);
    const encode = (index: number) =>
      body.encoding_format === "base64"
        ? Buffer.from(vector(index).buffer).toString("base64")
        : Array.from(vector(index));
    const data = body.input.map((_, index) => ({ object: "embedding", index, embedding: encode(index) })).reverse();
    response.end(JSON.stringify({ data, usage: { prompt_tokens: 7, total_tokens: 7 } }));
  });
  upstream.listen(0, "127.0.0.1");
  await once(upstream, "listening");
  const { port } = upstream.address() as AddressInfo;
  const remote = `engine: openai-compatible, base_url: "http://127.0.0.1:${port}/v1"`;
  const config = `
builtin_models: false
models:
  - { id: ${LOCAL}, task: embedding, aliases: [${ALIAS}], price: { prompt: "0.00000002" }, deployments: [{ engine: sentence-embeddings }] }
  - { id: averaging, task: embedding, deployments: [{ engine: sentence-embeddings, long_input: average }] }
  - { id: remote, task: embedding, aliases: [text-embedding-ada-002], deployments: [{ ${remote}, model: their-model }] }
  - { id: own-ids, task: embedding, deployments: [{ engine: sentence-embeddings, token_ids: model }] }
  - { id: remote-own-ids, task: embedding, deployments: [{ ${remote}, model: their-model, token_ids: model }] }
  - { id: text-embedding-3-large, task: embedding, deployments: [{ ${remote} }] }
  - { id: parrot, task: chat, deployments: [{ engine: scripted, echo: true }] }
`;
  service = await startService({ config });
  for (const model of [LOCAL, "averaging", "own-ids"]) await untilEmbedding(model);
});
afterAll(async () => {
  await service.stop();
  upstream.closeAllConnections();
  upstream.close();
});

/** Waits for a configured model, which does not delay the service's readiness. */
async function untilEmbedding(model: string): Promise<void> {
  await eventually(async () => expect((await service.post("/v1/embeddings", { model, input: "a" })).status).toBe(200));
}

const embed = async (input: string | string[] | number[] | number[][], model = LOCAL) =>
  service.client().embeddings.create({ model, input });

function cosine(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0) / (Math.hypot(...a) * Math.hypot(...b));
}

const vectorsOf = async (input: Parameters<typeof embed>[0], model?: string) =>
  (await embed(input, model)).data.map(({ embedding }) => embedding);

test("returns the vectors of the reference implementation, in order", async () => {
  const { object, model, data, usage } = await embed(reference.map(({ text }) => text));
  expect({ object, model }).toEqual({ object: "list", model: LOCAL });
  expect(data.map(({ index }) => index)).toEqual(reference.map((_, index) => index));
  for (const [index, { vector }] of reference.entries()) {
    const own = data[index]?.embedding ?? [];
    expect(own).toHaveLength(384);
    expect(cosine(own, vector)).toBeGreaterThan(0.9999);
    expect(Math.hypot(...own)).toBeCloseTo(1, 5);
  }
  const tokens = reference.reduce((sum, each) => sum + each.tokens, 0);
  expect(usage).toEqual({ prompt_tokens: tokens, total_tokens: tokens });
});

test("returns the same vector as numbers and as base64", async () => {
  const ask = (encoding_format: "float" | "base64") =>
    service.client().embeddings.create({ model: LOCAL, input: "A cat.", encoding_format, user: "u" });
  const [floats, encoded] = await Promise.all([ask("float"), ask("base64")]);
  const bytes = Buffer.from(encoded.data[0]?.embedding as unknown as string, "base64");
  const decoded = Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readFloatLE(index * 4));
  expect(floats.data[0]?.embedding).toEqual(decoded);
});

test("embeds 256 texts in one request, in order", async () => {
  const texts = Array.from({ length: 256 }, (_, index) => `number ${index} ${"word ".repeat(index % 7)}`);
  const vectors = await vectorsOf(texts);
  expect(vectors).toHaveLength(256);
  const [single] = await vectorsOf(texts[234] ?? "");
  expect(cosine(vectors[234] ?? [], single ?? [])).toBeGreaterThan(0.99999);
});

test.each([LOCAL, ALIAS])("decodes token IDs as cl100k under the name %s", async (name) => {
  const text = "Ünïcode and 日本語 are tokens, too.";
  const ids = new Tiktoken(ranks).encode(text);
  const [[fromText], [fromIds], [fromBatch]] = await Promise.all([
    vectorsOf(text),
    vectorsOf(ids, name),
    vectorsOf([ids], name),
  ]);
  expect(fromIds).toEqual(fromText);
  expect(fromBatch).toEqual(fromText);
});

test("reads token IDs as the model's own where the request or the configuration says so", async () => {
  const own = async (input: number[], fields: object) => {
    const response = await service.post("/v1/embeddings", { input, ...fields });
    const { data } = (await response.json()) as { data: { embedding: number[] }[] };
    return data[0]?.embedding;
  };
  const [fromText] = await vectorsOf("a cat");
  for (const ids of [
    [1037, 4937],
    [101, 1037, 4937, 102],
  ]) {
    expect(await own(ids, { model: LOCAL, token_ids: "model" })).toEqual(fromText);
    expect(await own(ids, { model: "own-ids" })).toEqual(fromText);
  }
  const cl100k = new Tiktoken(ranks).encode("a cat");
  expect(await own(cl100k, { model: "own-ids", token_ids: "cl100k_base" })).toEqual(fromText);
});

test("averages the windows of long cl100k IDs, whose client counts with another vocabulary", async () => {
  const ids = new Tiktoken(ranks).encode(LONG);
  const [[fromIds], [fromText]] = await Promise.all([vectorsOf([ids]), vectorsOf(LONG, "averaging")]);
  expect(cosine(fromIds ?? [], fromText ?? [])).toBeGreaterThan(0.9999);
});

test("reads texts in objects, as Jina's clients send them", async () => {
  const [one, two] = await vectorsOf(["a cat", "a dog"]);
  const send = (input: unknown) => service.post("/v1/embeddings", { model: LOCAL, input });
  const { data } = (await (await send([{ text: "a cat" }, { text: "a dog" }])).json()) as {
    data: { embedding: number[] }[];
  };
  expect(data.map(({ embedding }) => embedding)).toEqual([one, two]);
  for (const input of [[{ image: "https://example.com/cat.png" }], [{ text: "a", image: "b" }], [{ text: 1 }]]) {
    expect((await send(input)).status).toBe(400);
  }
});

test("averages the windows of a long text when configured, and reads all of it", async () => {
  const [[short], [long], [ending]] = await Promise.all([
    vectorsOf(LONG.slice(0, 900), "averaging"),
    vectorsOf(LONG, ALIAS),
    vectorsOf(`${LONG} Quarterly revenue fell after the tax reform.`, "averaging"),
  ]);
  expect(Math.hypot(...(long ?? []))).toBeCloseTo(1, 5);
  expect(cosine(short ?? [], long ?? [])).toBeGreaterThan(0.9);
  expect(cosine(long ?? [], ending ?? [])).toBeLessThan(0.9999);
});

test("accepts 300,000 token IDs in one request, and rejects half a million values", async () => {
  const ids = (count: number) => Array.from({ length: count }, (_, index) => 1000 + (index % 7));
  const input = Array.from({ length: 1200 }, () => ids(250));
  expect(await vectorsOf(input, "text-embedding-3-large")).toHaveLength(1200);
  const refused = await service.post("/v1/embeddings", { model: LOCAL, input: ids(500_000) });
  expect(refused.status).toBe(400);
});

test("forwards the caller's input to an upstream, and orders its vectors", async () => {
  asked = [];
  const floats = await service.client().embeddings.create({
    model: "text-embedding-3-large",
    input: [[1, 2], [3]],
    dimensions: 3,
    encoding_format: "float",
    user: "u",
  });
  expect(asked).toEqual([
    {
      model: "text-embedding-3-large",
      input: [[1, 2], [3]],
      dimensions: 3,
      encoding_format: "float",
      user: "u",
    },
  ]);
  expect(floats.data.map(({ embedding }) => embedding)).toEqual([
    [0, 0.5, -1],
    [1, 0.5, -1],
  ]);
  expect(floats.usage).toEqual({ prompt_tokens: 7, total_tokens: 7 });
  expect(await vectorsOf(["a", "b"], "remote")).toEqual([
    [0, 0.5, -1],
    [1, 0.5, -1],
  ]);
});

test("decodes cl100k IDs for an upstream, unless they are said to be its own", async () => {
  const ids = new Tiktoken(ranks).encode("Hello there");
  for (const [fields, input] of [
    [{ model: "text-embedding-ada-002" }, ["Hello there"]],
    [{ model: "remote" }, ["Hello there"]],
    [{ model: "remote", token_ids: "model" }, [ids]],
    [{ model: "remote-own-ids" }, [ids]],
  ] as const) {
    asked = [];
    expect((await service.post("/v1/embeddings", { ...fields, input: [ids] })).status).toBe(200);
    expect(asked).toEqual([expect.objectContaining({ model: "their-model", input })]);
    expect(asked[0]).not.toHaveProperty("token_ids");
  }
});

describe("rejects", () => {
  test.each<[what: string, body: object, expected: object]>([
    ...["output_dtype", "embedding_type", "task"].map((field): [string, object, object] => [
      `vectors of another kind (${field})`,
      { input: "a", [field]: "int8" },
      { param: field, code: "unsupported_value" },
    ]),
    ["late chunking", { input: ["a", "b"], late_chunking: true }, { param: "late_chunking" }],
    ["no input", {}, { param: "input", code: "missing_required_parameter" }],
    ["null", { input: null }, { param: "input" }],
    ["an empty array", { input: [] }, { param: "input" }],
    ["an empty token array", { input: [[1], []] }, { param: "input", message: expect.stringContaining("input[1]") }],
    ["more characters than the limit", { input: "a".repeat(10_000_001) }, { code: "string_above_max_length" }],
    ["a number", { input: 7 }, { param: "input" }],
    ["an object", { input: { text: "a" } }, { param: "input" }],
    ["texts among token IDs", { input: [1, "a"] }, { param: "input", message: expect.stringContaining("input[1]") }],
    [
      "token arrays among texts",
      { input: ["a", [1]] },
      { param: "input", message: expect.stringContaining("input[1]") },
    ],
    ["nested arrays", { input: [[[1]]] }, { param: "input" }],
    ["a negative id", { input: [5, -1] }, { param: "input", message: expect.stringContaining("input[1]") }],
    ["a broken id", { input: [1.5] }, { param: "input" }],
    [
      "an id beyond its vocabulary",
      { token_ids: "model", input: [[5], [7, 30522]] },
      { message: expect.stringContaining("30522") },
    ],
    ["an id beyond cl100k", { model: ALIAS, input: [100277] }, { message: expect.stringContaining("cl100k_base") }],
    ["an id beyond cl100k under its own name", { input: [100277] }, { message: expect.stringContaining("token_ids") }],
    ["another vocabulary", { input: [1], token_ids: "o200k_base" }, { param: "token_ids" }],
    ["2,049 texts", { input: Array(2049).fill("a") }, { code: "array_above_max_length" }],
    ["dimensions that it was not trained for", { input: "a", dimensions: 256 }, { param: "dimensions" }],
    ["no dimensions at all", { input: "a", dimensions: 0 }, { param: "dimensions" }],
    ["another encoding", { input: "a", encoding_format: "int8" }, { param: "encoding_format" }],
    ["a field that would cut texts", { input: "a", truncate: true }, { param: "truncate" }],
    ["a misspelled field", { input: "a", dimension: 8 }, { param: "dimension" }],
    ["a model of another task", { model: "parrot", input: "a" }, { param: "model" }],
    [
      "a text beyond the window, with both counts",
      { input: ["a", LONG] },
      { code: "context_length_exceeded", message: expect.stringMatching(/Input 1 has 902 tokens.* 256/) },
    ],
  ])("%s", async (_what, body, expected) => {
    const response = await service.post("/v1/embeddings", { model: LOCAL, ...body });
    const { error } = (await response.json()) as { error: object };
    expect({ status: response.status, ...error }).toMatchObject({ status: 400, ...expected });
  });

  test("a model that does not exist", async () => {
    const failure = await embed("a", "nope").catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(APIError);
    expect(failure).toMatchObject({ status: 404, code: "model_not_found" });
  });
});

const administer = (path: string, body: object) =>
  service.post(`/v1/organization/${path}`, body, {
    headers: { authorization: `Bearer ${service.adminKey}`, "content-type": "application/json" },
  });

test("returns 404 to a project without access to the model, also under its alias", async () => {
  const project = (await (await administer("projects", { name: "elsewhere" })).json()) as { id: string };
  await administer(`projects/${project.id}/model_permissions`, { mode: "allow_list", model_ids: ["parrot"] });
  const account = await administer(`projects/${project.id}/service_accounts`, { name: "robot" });
  const { api_key: key } = (await account.json()) as { api_key: { value: string } };
  for (const model of [LOCAL, ALIAS]) {
    const client = service.client({ apiKey: key.value, maxRetries: 0 });
    await expect(client.embeddings.create({ model, input: "a" })).rejects.toMatchObject({ status: 404 });
  }
});

test("limits tokens per minute and counts the used tokens", async () => {
  const project = (await (await administer("projects", { name: "limited" })).json()) as { id: string };
  const limits = await service.fetch(`/v1/organization/projects/${project.id}/rate_limits?limit=100`, {
    headers: { authorization: `Bearer ${service.adminKey}` },
  });
  const { data } = (await limits.json()) as { data: { id: string; model: string }[] };
  const limit = data.find(({ model }) => model === LOCAL);
  await administer(`projects/${project.id}/rate_limits/${limit?.id}`, { max_tokens_per_1_minute: 30 });
  const account = await administer(`projects/${project.id}/service_accounts`, { name: "robot" });
  const { api_key: key } = (await account.json()) as { api_key: { value: string } };
  const client = service.client({ apiKey: key.value, maxRetries: 0 });
  await client.embeddings.create({ model: LOCAL, input: "a cat" });
  await expect(client.embeddings.create({ model: LOCAL, input: "cat ".repeat(20) })).rejects.toMatchObject({
    status: 429,
  });
  const admin = new OpenAI({ baseURL: service.baseUrl, adminAPIKey: service.adminKey });
  await eventually(async () => {
    const start_time = Math.floor(Date.now() / 1000) - 3600;
    const query = { start_time, project_ids: [project.id] };
    const page = await admin.admin.organization.usage.embeddings(query);
    const results = page.data.flatMap((bucket) => bucket.results);
    expect(results).toMatchObject([{ input_tokens: 4, num_model_requests: 1 }]);
    const costs = await admin.admin.organization.usage.costs({ ...query, bucket_width: "1d" });
    expect(costs.data.flatMap((bucket) => bucket.results)).toMatchObject([{ amount: { value: 8e-8 } }]);
  });
});

test("lists dimensions and context window", async () => {
  const response = await service.fetch(`/v1/models/${ALIAS}?include_metadata=true`);
  const { metadata } = (await response.json()) as { metadata: object };
  expect(metadata).toMatchObject({ task: "embedding", dimensions: 384, context_window: 256 });
});
