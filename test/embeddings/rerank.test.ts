/** POST /v1/rerank through Cohere's provider of the AI SDK, with a local embedding model and with upstreams. */

import { createCohere } from "@ai-sdk/cohere";
import { rerank } from "ai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../support/service/eventually.ts";
import { type Service, startService } from "../support/service/service.ts";
import { deploymentAt } from "../support/upstreams/deployment-at.ts";

const DOCUMENTS = [
  "The recipe needs two eggs and a cup of flour.",
  "A dog is an animal that barks and guards the house.",
  "The stock market fell by two percent on Monday.",
  "Cats purr when their owner strokes them.",
];
const QUERY = "Which pet purrs?";

const minilm = `
  - { id: minilm, task: embedding, price: { prompt: "0.00000002" }, deployments: [{ engine: sentence-embeddings }] }
`;

let upstream: Service;
let service: Service;
beforeAll(async () => {
  upstream = await startService({ config: `builtin_models: false\nmodels:${minilm}` });
  const remote = (abilities: object) => deploymentAt(upstream, "minilm", { abilities });
  service = await startService({
    config: `
builtin_models: false
models:${minilm}
  - { id: strict, task: embedding, deployments: [{ engine: sentence-embeddings, long_input: refuse }] }
  - { id: reranker, task: embedding, deployments: [${remote({ rerank: true })}] }
  - { id: embedder, task: embedding, deployments: [${remote({})}] }
  - { id: absent, task: embedding, deployments: [{ engine: openai-compatible, base_url: "${upstream.origin}/nothing", abilities: { rerank: true } }] }
  - { id: parrot, task: chat, deployments: [{ engine: scripted, echo: true }] }
`,
  });
});
afterAll(async () => {
  await service?.stop();
  await upstream?.stop();
});

interface Ranking {
  id: string;
  model: string;
  results: { index: number; relevance_score: number; document?: { text: string } }[];
  usage: { prompt_tokens: number; total_tokens: number };
  meta: object;
}

const post = (body: object, path = "/v1/rerank") =>
  service.post(path, { model: "minilm", query: QUERY, documents: DOCUMENTS, ...body });
const rank = async (body: object = {}, path?: string) => (await (await post(body, path)).json()) as Ranking;
const upstreamPaths = () => upstream.log().flatMap(({ msg, path }) => (msg === "request" ? [path] : []));

describe.each(["minilm", "reranker", "embedder"])("the model %s", (model) => {
  test("ranks documents for the official client", async () => {
    const cohere = createCohere({ baseURL: service.baseUrl, apiKey: service.apiKey });
    const { ranking, rerankedDocuments } = await rerank({
      model: cohere.reranking(model),
      query: QUERY,
      documents: DOCUMENTS,
      topN: 2,
    });
    expect(ranking.map(({ originalIndex }) => originalIndex)).toEqual([3, 1]);
    expect(rerankedDocuments[0]).toBe(DOCUMENTS[3]);
  });

  test("returns scores in descending order, documents and usage", async () => {
    const { results, usage, ...rest } = await rank({ model });
    expect(rest).toMatchObject({ model, object: "list", id: expect.stringMatching(/^rerank-/) });
    expect(results.map(({ index }) => index).toSorted()).toEqual([0, 1, 2, 3]);
    const scores = results.map(({ relevance_score: score }) => score);
    expect(scores).toEqual(scores.toSorted((a, b) => b - a));
    expect(results[0]).toMatchObject({ index: 3, document: { text: DOCUMENTS[3] } });
    expect(usage.total_tokens).toBeGreaterThan(30);
    expect(usage.prompt_tokens).toBe(usage.total_tokens);
  });

  test("records the usage as that of embeddings", async () => {
    const { usage } = await rank({ model });
    await eventually(() => {
      const line = service.log().findLast(({ msg }) => msg === "request");
      expect(line).toMatchObject({ path: "/v1/rerank", model, promptTokens: usage.total_tokens, outcome: "finished" });
    });
  });
});

test("asks an upstream that reranks, and another for embeddings", async () => {
  await rank({ model: "reranker" });
  await eventually(() => expect(upstreamPaths().at(-1)).toBe("/v1/rerank"));
  await rank({ model: "embedder" });
  await eventually(() => expect(upstreamPaths().at(-1)).toBe("/v1/embeddings"));
});

test("scores with the cosine of the embeddings", async () => {
  const { data } = await service.client().embeddings.create({ model: "minilm", input: [QUERY, ...DOCUMENTS] });
  const [query = [], ...vectors] = data.map(({ embedding }) => embedding);
  const expected = vectors.map((vector) => vector.reduce((sum, value, index) => sum + value * (query[index] ?? 0), 0));
  for (const { index, relevance_score: score } of (await rank()).results) {
    expect(score).toBeCloseTo(expected[index] ?? 9, 4);
  }
});

test("takes documents as objects, and leaves them out on request", async () => {
  const documents = DOCUMENTS.map((text) => ({ text, title: "ignored" }));
  const { results } = await rank({ documents, return_documents: false, top_n: 1 });
  expect(results).toEqual([{ index: 3, relevance_score: expect.any(Number) }]);
});

test("takes Voyage's name of top_n", async () => {
  expect((await rank({ top_k: 1 })).results).toHaveLength(1);
  expect((await rank({ top_k: 2, top_n: 2 })).results).toHaveLength(2);
  const response = await service.post("/v1/rerank", {
    model: "minilm",
    query: QUERY,
    documents: DOCUMENTS,
    top_k: 1,
    top_n: 2,
  });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error: { param: "top_k" } });
});

test("leaves the documents out at the path of Cohere's second version", async () => {
  expect((await rank({ top_n: 1 }, "/v2/rerank")).results).toEqual([{ index: 3, relevance_score: expect.any(Number) }]);
  const { status } = await fetch(`${service.origin}/v2/rerank`, { method: "POST" });
  expect(status).toBe(401);
});

test.each([
  [{ query: undefined }, 400, "query"],
  [{ query: "" }, 400, "query"],
  [{ documents: [] }, 400, "documents"],
  [{ documents: [1] }, 400, "documents[0]"],
  [{ documents: [""] }, 400, "documents[0]"],
  [{ documents: "one" }, 400, "documents"],
  [{ top_n: 0 }, 400, "top_n"],
  [{ rank_fields: ["title"] }, 400, "rank_fields"],
  [{ model: "nothing" }, 404, "model"],
  [{ model: "parrot" }, 400, "model"],
])("refuses %j with %i", async (body, status, param) => {
  const response = await post(body);
  expect(response.status).toBe(status);
  expect(await response.json()).toMatchObject({ error: { param } });
});

test("refuses more than 1,000 documents and texts that the model cannot read", async () => {
  const many = await post({ documents: Array.from({ length: 1001 }, () => "a") });
  expect(many.status).toBe(400);
  const long = await post({ model: "strict", documents: ["word ".repeat(600)] });
  expect(await long.json()).toMatchObject({ error: { param: "documents", code: "context_length_exceeded" } });
});

test("ranks a document beyond the window by the mean of its parts", async () => {
  const filler = "The weather report mentions rain in the north. ".repeat(60);
  const { results, usage } = await rank({
    documents: [...DOCUMENTS, filler, `${"Cats purr when stroked. ".repeat(80)}`],
  });
  expect(results.map(({ index }) => index)).toHaveLength(6);
  expect(
    results
      .slice(0, 2)
      .map(({ index }) => index)
      .toSorted(),
  ).toEqual([3, 5]);
  expect(usage.prompt_tokens).toBeGreaterThan(1_000);
});

test("refuses by name what an upstream without reranking lacks", async () => {
  const response = await post({ model: "absent" });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error: { code: "unsupported_value" } });
});
