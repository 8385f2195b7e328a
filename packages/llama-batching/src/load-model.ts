/** Loads a GGUF file and creates its context, with one sequence for each slot. */

import { getLlama, type Llama, type LlamaContext, LlamaLogLevel, type LlamaModel } from "node-llama-cpp";
import { ModelError } from "./errors.ts";
import { ThreadCount, usefulThreads } from "./thread-count.ts";

export interface LoadOptions {
  /** Absolute path of the GGUF file. */
  path: string;
  /** Tokens of prompt and answer together, for each slot. Undefined: the model's own, up to 4096. */
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
}

export interface LoadedModel {
  model: LlamaModel;
  context: LlamaContext;
  device: string;
  /** Consulted before each batch. */
  threads: ThreadCount;
}

/** A larger context costs memory for each slot, used or not. */
const DEFAULT_CONTEXT_SIZE = 4096;

/** Throws a ModelError that names the step that failed. Never builds or downloads anything. */
export async function loadModel(options: LoadOptions): Promise<LoadedModel> {
  const llama = await attempt("No llama.cpp binary for this machine", () => loadBinding(options));
  const model = await attempt("The model file cannot be loaded", () =>
    llama.loadModel({ modelPath: options.path, gpuLayers: options.gpuLayers ?? "auto" }),
  );
  const device = model.gpuLayers > 0 && llama.gpu !== false ? llama.gpu : "cpu";
  const context = await attempt("The model's context cannot be made", () => createContext(model, options, device));
  const threads = new ThreadCount(options.threads ?? usefulThreads(llama.cpuMathCores)).start();
  return { model, context, threads, device };
}

function loadBinding({ gpu }: LoadOptions): Promise<Llama> {
  return getLlama({ gpu, build: "never", skipDownload: true, progressLogs: false, logLevel: LlamaLogLevel.warn });
}

function createContext(model: LlamaModel, options: LoadOptions, device: string): Promise<LlamaContext> {
  const { slots, flashAttention } = options;
  return model.createContext({
    sequences: slots,
    contextSize: options.contextSize ?? Math.min(model.trainContextSize, DEFAULT_CONTEXT_SIZE),
    batchSize: Math.max(options.batchSize, slots),
    // On a CPU, flash attention splits one sequence among the threads and rounds differently for each number of threads:
    // the same seed would give another text whenever the machine's load changes.
    flashAttention: flashAttention === "auto" && device === "cpu" ? false : flashAttention,
    // An upper bound: the batcher lowers `maxThreads` with the machine's load.
    threads: options.threads ?? usefulThreads(model.llama.cpuMathCores),
    // A smaller context than requested would silently cut the window.
    failedCreationRemedy: false,
    // The batcher fills each batch itself, never beyond its size.
    batching: {
      itemPrioritizationStrategy: ({ items }) => items.map((item) => ({ item, processAmount: item.tokens.length })),
    },
  });
}

async function attempt<Result>(step: string, run: () => Promise<Result>): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    throw new ModelError(`${step}: ${(error as Error).message}`, 60, error);
  }
}
