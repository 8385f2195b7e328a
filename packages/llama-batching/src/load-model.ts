/** Loads a GGUF file and creates its context, with one sequence for each slot. */

import { access } from "node:fs/promises";
import { getLlama, type Llama, type LlamaContext, LlamaLogLevel, type LlamaModel } from "node-llama-cpp";
import { type ContextChoice, chooseContextSize } from "./context-size.ts";
import { ModelError } from "./errors.ts";
import { ThreadCount, usefulThreads } from "./thread-count.ts";

export interface LoraAdapter {
  /** Absolute path of a GGUF file for the same base model. */
  path: string;
  /** Factor of its weights. */
  scale: number;
}

export interface LoadOptions {
  /** Absolute path of the GGUF file. */
  path: string;
  /** Tokens of prompt and answer together, for each slot. Undefined: what the model was trained with, as far as memory allows. */
  contextSize: number | undefined;
  /** Requests decoded together. */
  slots: number;
  /** Undefined: one for each core that is useful for it. */
  threads: number | undefined;
  /** `auto`: the best whose binaries are installed; false: the CPU. */
  gpu: "auto" | "cuda" | "vulkan" | "metal" | false;
  /** Layers offloaded to the GPU. Undefined: as many as fit. */
  gpuLayers: number | undefined;
  flashAttention: "auto" | boolean;
  /** Limit of tokens in a batch. */
  batchSize: number;
  /** Applied to all sequences. */
  lora: readonly LoraAdapter[];
}

export interface LoadedModel {
  model: LlamaModel;
  context: LlamaContext;
  device: string;
  /** Why the context window has its size. */
  contextReason: ContextChoice["reason"];
  /** Consulted before each batch. */
  threads: ThreadCount;
  /** Limit of tokens in a batch. */
  batchSize: number;
  /** Whether flash attention splits the keys of a token that is evaluated alone among the threads. */
  splitsKeys: boolean;
}

/** Throws a ModelError that names the step that failed. Never builds or downloads anything. */
export async function loadModel(options: LoadOptions): Promise<LoadedModel> {
  // llama.cpp does not name the file.
  for (const { path } of options.lora) await attempt("The LoRA adapter cannot be read", () => access(path));
  const { llama, model, device } = await openModelFile(options);
  const choice = await attempt("The context size cannot be chosen", () => contextSizeFor(model, options, device));
  const { contextSize } = choice;
  const flashAttention = flashAttentionFor(model, options, device);
  const context = await attempt("The model's context cannot be created", () =>
    createContext(model, { ...options, contextSize, flashAttention }),
  );
  const threads = new ThreadCount(options.threads ?? usefulThreads(llama.cpuMathCores)).start();
  return {
    model,
    context,
    threads,
    device,
    contextReason: choice.reason,
    batchSize: Math.max(options.batchSize, options.slots),
    splitsKeys: flashAttention !== false && device === "cpu",
  };
}

/** Loads the weights. Throws a ModelError. */
export async function openModelFile(
  options: Pick<LoadOptions, "path" | "gpu" | "gpuLayers">,
): Promise<{ llama: Llama; model: LlamaModel; device: string }> {
  const llama = await attempt("No llama.cpp binary for this machine", () => loadBinding(options));
  const model = await attempt("The model file cannot be loaded", () =>
    llama.loadModel({ modelPath: options.path, gpuLayers: options.gpuLayers ?? "auto" }),
  );
  return { llama, model, device: model.gpuLayers > 0 && llama.gpu !== false ? llama.gpu : "cpu" };
}

function loadBinding({ gpu }: Pick<LoadOptions, "gpu">): Promise<Llama> {
  return getLlama({ gpu, build: "never", skipDownload: true, progressLogs: false, logLevel: LlamaLogLevel.warn });
}

async function contextSizeFor(model: LlamaModel, options: LoadOptions, device: string): Promise<ContextChoice> {
  if (options.contextSize !== undefined) return { contextSize: options.contextSize, reason: "configured" };
  const { slots, batchSize } = options;
  const flashAttention = flashAttentionFor(model, options, device);
  const isOnGpu = device !== "cpu";
  const availableBytes = isOnGpu ? (await model.llama.getVramState()).free : process.availableMemory();
  return await chooseContextSize({
    trainedSize: model.trainContextSize,
    availableBytes,
    estimateBytes: async (contextSize) => {
      const { cpuRam, gpuVram } = await model.fileInsights.estimateContextResourceRequirementsV2({
        contextSize,
        modelGpuLayers: model.gpuLayers,
        sequences: slots,
        batchSize,
        flashAttention,
      });
      return isOnGpu ? gpuVram : cpuRam;
    },
  });
}

/** On a CPU, `auto` is off for a model whose companion tokens could not be erased (`RepeatableEvaluation`). */
function flashAttentionFor(
  { fileInsights }: LlamaModel,
  { flashAttention }: LoadOptions,
  device: string,
): LoadOptions["flashAttention"] {
  const { isRecurrent, isHybrid, swaSize } = fileInsights;
  const canErase = !isRecurrent && !isHybrid && swaSize === undefined;
  return flashAttention === "auto" && device === "cpu" && !canErase ? false : flashAttention;
}

function createContext(model: LlamaModel, options: LoadOptions): Promise<LlamaContext> {
  const { slots, flashAttention } = options;
  return model.createContext({
    sequences: slots,
    contextSize: options.contextSize,
    // Room for a companion of each request's token.
    batchSize: Math.max(options.batchSize, slots) + slots,
    flashAttention,
    // An upper bound: the batcher lowers it with the machine's load.
    threads: options.threads ?? usefulThreads(model.llama.cpuMathCores),
    ...(options.lora.length > 0 && {
      lora: { adapters: options.lora.map(({ path, scale }) => ({ filePath: path, scale })) },
    }),
    // A smaller context than requested would silently cut the window.
    failedCreationRemedy: false,
    // The batcher fills each batch itself, never beyond its size.
    batching: {
      itemPrioritizationStrategy: ({ items }) => items.map((item) => ({ item, processAmount: item.tokens.length })),
    },
  });
}

/** Runs a step of loading. Throws a ModelError that names it. */
export async function attempt<Result>(step: string, run: () => Promise<Result>): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    throw new ModelError(`${step}: ${(error as Error).message}`, 60, error);
  }
}
