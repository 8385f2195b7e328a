/** Growing contexts of models whose states have sliding windows or recurrent layers. */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { oncePerState } from "../../../../test/support/unchanged/once-per-state.ts";
import { makeGenerationRequest } from "../../test/generation-request.ts";
import { TINY_MODELS, writeTinyModel } from "../../test/tiny-models.ts";
import { BatchedChatModel } from "../batched-chat-model.ts";
import { type LoadedModel, loadModel } from "../load-model.ts";
import type { GenerationEvent, GenerationRequest } from "../types.ts";

const test = oncePerState(import.meta.filename);

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tiny-models-"));
});
afterAll(() => rm(folder, { recursive: true }));

async function open(path: string, contextSize: number) {
  const loaded = await loadModel({
    path,
    contextSize,
    slots: 2,
    threads: 1,
    gpu: false,
    gpuLayers: undefined,
    flashAttention: "auto",
    batchSize: 128,
    lora: [],
  });
  const options = { prefixReuse: true, maxChoices: 2, chatTemplate: undefined, warn: () => undefined };
  return { loaded, model: new BatchedChatModel({ ...loaded, ...options }) };
}

interface Output {
  text: string;
  logprobs: number[];
}

async function run(model: BatchedChatModel, request: GenerationRequest, atStart = () => {}): Promise<Output> {
  const output: Output = { text: "", logprobs: [] };
  const emit = (event: GenerationEvent) => {
    if (event.type !== "text") return;
    if (output.text === "") atStart();
    output.text += event.text;
    output.logprobs.push(...(event.logprobs ?? []).map(({ logprob }) => logprob));
  };
  await model.run(request, { emit, signal: new AbortController().signal });
  return output;
}

const NO_END = { logitBias: { 0: -100 } };
const request = (words: number, fields: Partial<GenerationRequest>) =>
  makeGenerationRequest({
    messages: [{ role: "user", content: Array.from({ length: words }, (_, index) => `w${index % 40}`).join(" ") }],
    ...NO_END,
    ...fields,
  });
const seeded = request(120, { seed: 7, maxTokens: 80, temperature: 1, topLogprobs: 0 });
const long = request(800, { maxTokens: 1, temperature: 1 });
const sizeOf = ({ context }: LoadedModel) => context.contextSize;

describe.each(Object.entries(TINY_MODELS))("%s", (name, shape) => {
  let path: string;
  beforeAll(async () => {
    path = join(folder, `${name}.gguf`);
    await writeTinyModel(path, shape);
  });

  test("begins with 2,048 tokens and says the same before, while and after the context grows", async () => {
    const { loaded, model } = await open(path, 8192);
    expect([sizeOf(loaded), model.contextWindow]).toEqual([2048, 8192]);
    const before = await run(model, seeded);
    expect([before.text.length > 100, before.logprobs.length]).toEqual([true, 80]);
    let sizeAtStart = 0;
    let growing: Promise<Output> | undefined;
    const during = await run(model, seeded, () => {
      sizeAtStart = sizeOf(loaded);
      growing = run(model, long);
    });
    await growing;
    expect([sizeAtStart, sizeOf(loaded)]).toEqual([2048, 4096]);
    expect(during).toEqual(before);
    expect(await run(model, seeded)).toEqual(before);
    await loaded.model.dispose();
  });
});

test("evaluates a repeatable answer beyond its sliding window again when the context grows in its midst", async () => {
  const path = join(folder, "floats.gguf");
  await writeTinyModel(path, TINY_MODELS.gemma3, { isQuantized: false });
  const { loaded, model } = await open(path, 4096);
  const longAnswer = request(400, { seed: 7, maxTokens: 620, temperature: 1, topLogprobs: 0 });
  let sizeAtStart = 0;
  const growing = await run(model, longAnswer, () => {
    sizeAtStart = sizeOf(loaded);
  });
  expect([sizeAtStart, sizeOf(loaded), growing.logprobs.length]).toEqual([2048, 4096, 620]);
  expect(await run(model, longAnswer)).toEqual(growing);
  await loaded.model.dispose();
});
