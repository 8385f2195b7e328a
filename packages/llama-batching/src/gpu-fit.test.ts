import { expect, test } from "vitest";
import { chooseFit, type FitOptions, fewerLayers } from "./gpu-fit.ts";

const GB = 1e9;
/** 8 billion parameters in 4 bits: 33 layers of 150 MB; 131 kB of cache a token and slot. */
const estimates = {
  totalLayers: 33,
  trainedSize: 131_072,
  weightBytes: async (layers: number) => layers * 0.15 * GB,
  contextBytes: async (size: number, layers: number) => 0.3 * GB + (size * 4 * 131_072 * layers) / 33,
};
const fit = (options: Partial<FitOptions>) =>
  chooseFit(estimates, {
    path: "model.gguf",
    contextSize: undefined,
    slots: 4,
    gpuLayers: undefined,
    batchSize: 2048,
    flashAttention: "auto",
    freeBytes: 80 * GB,
    ...options,
  });

test("puts all layers on a large GPU, with a window that leaves memory free", async () => {
  expect(await fit({})).toEqual({ gpuLayers: 33, contextSize: 32_768, reason: "memory" });
});

test("takes a smaller window rather than fewer layers, and fewer layers rather than none", async () => {
  expect(await fit({ freeBytes: 12 * GB })).toEqual({ gpuLayers: 33, contextSize: 4096, reason: "memory" });
  const small = await fit({ freeBytes: 3 * GB });
  expect(small.contextSize).toBe(4096);
  expect(small.gpuLayers).toBeGreaterThan(5);
  expect(small.gpuLayers).toBeLessThan(20);
  expect((await fit({ freeBytes: 0.2 * GB })).gpuLayers).toBe(0);
});

test("chooses the layers for the configured window", async () => {
  const { gpuLayers, contextSize, reason } = await fit({ contextSize: 32_768, freeBytes: 12 * GB });
  expect({ contextSize, reason }).toEqual({ contextSize: 32_768, reason: "configured" });
  expect(gpuLayers).toBeGreaterThan(10);
  expect(gpuLayers).toBeLessThan(25);
});

test("ends at no layers when even few have no memory", () => {
  let tries = 0;
  for (let layers = 33; layers > 0; layers = fewerLayers(layers)) tries += 1;
  expect(tries).toBeLessThan(12);
});

test("refuses configured layers that do not fit, with the memory and the way out", async () => {
  await expect(fit({ gpuLayers: 99, freeBytes: 3 * GB })).rejects.toThrow(
    /99 layers and a context of 4096 tokens for each of 4 slots need about 7\.4 GB of GPU memory, and 3\.0 GB are free\. Set fewer gpu_layers/,
  );
  expect((await fit({ gpuLayers: 10, freeBytes: 6 * GB })).gpuLayers).toBe(10);
});
