/** Chooses the layers on a GPU together with the context window: both take its memory. */

import { GgufInsights, type Llama, type LlamaContextOptions, readGgufFileInfo } from "node-llama-cpp";
import { type ContextChoice, chooseContextSize, MIN_CONTEXT_SIZE } from "./context-size.ts";
import { ModelError } from "./errors.ts";

export interface FitOptions {
  /** Absolute path of the GGUF file. */
  path: string;
  /** Tokens for each slot. Undefined: what the model was trained with, as far as memory allows. */
  contextSize: number | undefined;
  slots: number;
  /** Undefined: as many as fit. */
  gpuLayers: number | undefined;
  batchSize: number;
  flashAttention: LlamaContextOptions["flashAttention"];
  /** Memory that the model may take. */
  freeBytes: number;
}

export interface GpuFit extends ContextChoice {
  gpuLayers: number;
}

/** Memory of a model on a GPU. */
export interface GpuEstimates {
  totalLayers: number;
  trainedSize: number;
  weightBytes: (gpuLayers: number) => Promise<number>;
  contextBytes: (contextSize: number, gpuLayers: number) => Promise<number>;
}

/** Estimates miss buffers of the driver and the kernels. */
const USABLE_SHARE = 0.95;

export async function fitOnGpu(llama: Llama, options: FitOptions): Promise<GpuFit> {
  return await chooseFit(await estimatesOf(llama, options), options);
}

/**
 * Prefers all layers on the GPU to a large window, and a window of 4,096 tokens to fewer layers. Throws a ModelError when
 * the configured layers and the smallest window need more than is free.
 */
export async function chooseFit(estimates: GpuEstimates, options: FitOptions): Promise<GpuFit> {
  const { totalLayers, trainedSize, weightBytes, contextBytes } = estimates;
  const { contextSize, freeBytes } = options;
  const usable = USABLE_SHARE * freeBytes;
  const requestedLayers = Math.min(options.gpuLayers ?? totalLayers, totalLayers);
  const forContext = usable - (await weightBytes(requestedLayers));
  const choice: ContextChoice =
    contextSize === undefined
      ? await chooseContextSize({
          trainedSize,
          availableBytes: Math.max(0, forContext),
          estimateBytes: (size) => contextBytes(size, requestedLayers),
        })
      : { contextSize, reason: "configured" };
  const needed = (layers: number) =>
    Promise.all([weightBytes(layers), contextBytes(choice.contextSize, layers)]).then(([a, b]) => a + b);
  if ((await needed(requestedLayers)) <= usable) return { ...choice, gpuLayers: requestedLayers };
  if (options.gpuLayers !== undefined) throw doesNotFit(await needed(requestedLayers), choice.contextSize, options);
  let gpuLayers = requestedLayers - 1;
  while (gpuLayers > 0 && (await needed(gpuLayers)) > usable) gpuLayers -= 1;
  return { ...choice, gpuLayers };
}

/** Layers to try next when there was no memory for these after all. */
export function fewerLayers(gpuLayers: number): number {
  return Math.floor(gpuLayers * 0.75);
}

function doesNotFit(needed: number, contextSize: number, options: FitOptions): ModelError {
  const { gpuLayers, slots, freeBytes } = options;
  return new ModelError(
    `${gpuLayers} layers and a context of ${contextSize} tokens for each of ${slots} slots need about ${inGigabytes(needed)} of GPU memory, and ${inGigabytes(freeBytes)} are free. Set fewer gpu_layers, slots or a smaller context_size; without gpu_layers, as many layers as fit are used.`,
    60,
  );
}

function inGigabytes(bytes: number): string {
  return `${(bytes / 1e9).toFixed(1)} GB`;
}

async function estimatesOf(llama: Llama, options: FitOptions): Promise<GpuEstimates> {
  const { path, slots, batchSize, flashAttention } = options;
  const insights = await GgufInsights.from(await readGgufFileInfo(path), llama);
  return {
    totalLayers: insights.totalLayers,
    trainedSize: insights.trainContextSize ?? MIN_CONTEXT_SIZE,
    weightBytes: async (gpuLayers) => (await insights.estimateModelResourceRequirementsV2({ gpuLayers })).gpuVram,
    contextBytes: async (contextSize, modelGpuLayers) => {
      const plan = { contextSize, modelGpuLayers, sequences: slots, batchSize, flashAttention };
      return (await insights.estimateContextResourceRequirementsV2(plan)).gpuVram;
    },
  };
}
