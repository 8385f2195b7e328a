/** A GGUF cross-encoder. Its head reads one value of the encoder, so the scores are compared by their invariants. */

import { afterAll, beforeAll, expect } from "vitest";
import { makeEngineServices } from "../../../test/support/models/engine-services.ts";
import { rerankerGgufPath } from "../../../test/support/models/minilm-gguf.ts";
import { oncePerState } from "../../../test/support/unchanged/once-per-state.ts";
import type { EmbeddingModel } from "../../contracts/embedding-model.ts";
import type { Hosted } from "../host/host-model.ts";
import { llamaCppEngine } from "./llama-cpp-engine.ts";
import { llamaCppSettings } from "./settings.ts";

const test = oncePerState(import.meta.filename);

const never = () => new AbortController().signal;
let model: Hosted<EmbeddingModel>;
beforeAll(async () => {
  const path = await rerankerGgufPath(7);
  const services = makeEngineServices({ pull: async () => ({ path, paths: {} }) });
  const settings = llamaCppSettings.parse({ file: path, gpu: false, threads: 1, context_size: 256 });
  model = (await llamaCppEngine.open(settings, "embedding", services)) as Hosted<EmbeddingModel>;
});
afterAll(() => model?.close());

const rank = (query: string, documents: string[]) =>
  model.rerank?.({ model: "m", project: "p", query, documents }, never()) ?? Promise.reject(new Error("no reranker"));

test("scores each pair by itself, as a probability", async () => {
  const documents = ["Cats purr.", "The stock market fell.", "Cats purr."];
  const { scores, promptTokens, estimated } = await rank("Which pet purrs?", documents);
  expect(scores).toHaveLength(3);
  for (const score of scores) {
    expect(score).toBeGreaterThan(0);
    expect(score).toBeLessThan(1);
  }
  expect(scores[0]).toBe(scores[2]);
  expect(scores[0]).not.toBeCloseTo(scores[1] ?? 0, 6);
  expect((await rank("Which pet purrs?", ["The stock market fell."])).scores[0]).toBeCloseTo(scores[1] ?? 0, 6);
  expect((await rank("What happened on Monday?", ["Cats purr."])).scores[0]).not.toBeCloseTo(scores[0] ?? 0, 6);
  expect(estimated).toBe(false);
  expect(promptTokens).toBeGreaterThan(25);
});

test("ranks a document beyond the window by its best part", async () => {
  const { scores, promptTokens } = await rank("Which pet purrs?", ["Cats purr when stroked. ".repeat(120)]);
  expect(scores[0]).toBeGreaterThan(0);
  expect(promptTokens).toBeGreaterThan(300);
});

test("refuses a query that leaves no room, and embeddings", async () => {
  await expect(rank("word ".repeat(200), ["a"])).rejects.toMatchObject({ kind: "invalid-request", param: "query" });
  const request = { model: "m", project: "p", inputs: ["a"], dimensions: undefined, usesOpenAiName: false } as const;
  await expect(
    model.embed({ ...request, tokenIds: undefined, encoding: "float", user: undefined }, never()),
  ).rejects.toMatchObject({ param: "model", message: expect.stringContaining("/v1/rerank") });
});
