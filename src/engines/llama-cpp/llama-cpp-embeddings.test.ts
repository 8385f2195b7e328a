/** A GGUF embedding model, compared with vectors of sentence-transformers for the same weights. */

import { afterAll, beforeAll, expect } from "vitest";
import reference from "../../../test/recordings/all-minilm-l6-v2.json" with { type: "json" };
import { makeEngineServices } from "../../../test/support/models/engine-services.ts";
import { minilmGgufPath } from "../../../test/support/models/minilm-gguf.ts";
import { oncePerState } from "../../../test/support/unchanged/once-per-state.ts";
import type { EmbeddingModel, EmbeddingRequest } from "../../contracts/embedding-model.ts";
import type { Hosted } from "../host/host-model.ts";
import { llamaCppEngine } from "./llama-cpp-engine.ts";
import { llamaCppSettings } from "./settings.ts";

const test = oncePerState(import.meta.filename);

const opened: Hosted<EmbeddingModel>[] = [];

async function open(settings: Record<string, unknown> = {}): Promise<Hosted<EmbeddingModel>> {
  const path = await minilmGgufPath();
  const services = makeEngineServices({ pull: async () => ({ path, paths: {} }) });
  const checked = llamaCppSettings.parse({ file: path, gpu: false, threads: 1, ...settings });
  const model = (await llamaCppEngine.open(checked, "embedding", services)) as Hosted<EmbeddingModel>;
  opened.push(model);
  return model;
}

let model: Hosted<EmbeddingModel>;
beforeAll(async () => {
  model = await open();
});
afterAll(() => Promise.all(opened.map((each) => each.close())));

const ask = (inputs: EmbeddingRequest["inputs"], fields: Partial<EmbeddingRequest> = {}, asked = model) =>
  asked.embed(
    {
      model: "m",
      project: "p",
      inputs,
      dimensions: undefined,
      usesOpenAiName: false,
      tokenIds: "model",
      encoding: "float",
      user: undefined,
      ...fields,
    },
    new AbortController().signal,
  );

async function vectorsOf(...asked: Parameters<typeof ask>): Promise<Float32Array[]> {
  const { values, dimensions } = await ask(...asked);
  return Array.from({ length: values.length / dimensions }, (_, index) =>
    values.subarray(index * dimensions, (index + 1) * dimensions),
  );
}

function cosine(one: ArrayLike<number>, other: ArrayLike<number>): number {
  const dot = (a: ArrayLike<number>, b: ArrayLike<number>) =>
    Array.from(a).reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0);
  return dot(one, other) / Math.sqrt(dot(one, one) * dot(other, other));
}

test("reports dimensions and the window", () => {
  expect(model).toMatchObject({ task: "embedding", dimensions: 384, contextWindow: 512, device: "cpu", slots: 4 });
});

test("returns the vectors of the reference implementation, of length 1", async () => {
  const { promptTokens, estimated } = await ask(reference.map(({ text }) => text));
  const tokens = reference.reduce((sum, each) => sum + each.tokens, 0);
  expect({ promptTokens, estimated }).toEqual({ promptTokens: tokens, estimated: false });
  const vectors = await vectorsOf(reference.map(({ text }) => text));
  for (const [index, { vector }] of reference.entries()) {
    expect(cosine(vectors[index] ?? [], vector)).toBeGreaterThan(0.999);
    expect(Math.hypot(...(vectors[index] ?? []))).toBeCloseTo(1, 5);
  }
});

test("reads token IDs of its own vocabulary, without the special ones", async () => {
  const [fromText] = await vectorsOf(["hello world"]);
  const [fromIds] = await vectorsOf([[7592, 2088]]);
  expect(cosine(fromText ?? [], fromIds ?? [])).toBeGreaterThan(0.99999);
  await expect(ask([[99_999]])).rejects.toMatchObject({ param: "input", code: "invalid_value" });
});

test("refuses a text beyond the window, and averages its windows where that is set", async () => {
  const long = "the quick brown fox jumps over the lazy dog ".repeat(100);
  await expect(ask([long])).rejects.toMatchObject({ code: "context_length_exceeded", message: /902 tokens.*512/ });
  const averaging = await open({ long_input: "average" });
  const [[averaged], [short]] = await Promise.all([
    vectorsOf([long], {}, averaging),
    vectorsOf([long.slice(0, 1000)], {}, averaging),
  ]);
  expect(cosine(averaged ?? [], short ?? [])).toBeGreaterThan(0.9);
  expect(Math.hypot(...(averaged ?? []))).toBeCloseTo(1, 5);
});
