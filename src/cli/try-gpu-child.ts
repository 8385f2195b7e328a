/** Evaluates a token of a tiny model with random weights, and prints the device. */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadModel } from "@parlance-inference/llama-batching/load-model";
import { TINY, writeRandomModel } from "@parlance-inference/llama-batching/random-model";

const folder = await mkdtemp(join(tmpdir(), "parlance-gpu-"));
try {
  const path = join(folder, "tiny.gguf");
  await writeRandomModel(path, TINY);
  const { device } = await loadModel({
    path,
    contextSize: 256,
    slots: 1,
    threads: 1,
    gpu: "auto",
    gpuLayers: undefined,
    flashAttention: "auto",
    batchSize: 32,
    lora: [],
  });
  await new Promise<void>((written) => process.stdout.write(`${device}\n`, () => written()));
} finally {
  await rm(folder, { recursive: true, force: true });
}
// llama.cpp's threads keep the process running.
process.exit();
