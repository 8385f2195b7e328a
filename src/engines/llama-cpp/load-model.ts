/** Brings a GGUF file into memory, with one sequence for each slot. */

import { getLlama, type Llama, type LlamaContext, LlamaLogLevel, type LlamaModel } from "node-llama-cpp";
import { unavailable } from "../../faults.ts";
import type { LlamaCppSettings } from "./settings.ts";
import { ThreadCount, usefulThreads } from "./thread-count.ts";

export interface LoadSettings extends Omit<LlamaCppSettings, "reference"> {
  /** Absolute path of the GGUF file. */
  path: string;
}

export interface LoadedModel {
  model: LlamaModel;
  context: LlamaContext;
  device: string;
  /** To be asked before each batch. */
  threads: ThreadCount;
}

/** More costs memory for each slot, whether it is used or not. */
const DEFAULT_CONTEXT_SIZE = 4096;

/** Throws a Fault that names the step that failed. Never builds or downloads anything. */
export async function loadModel(settings: LoadSettings): Promise<LoadedModel> {
  const llama = await attempt("No llama.cpp binary for this machine", () => loadBinding(settings));
  const model = await attempt("The model file cannot be loaded", () =>
    llama.loadModel({ modelPath: settings.path, gpuLayers: settings.gpuLayers ?? "auto" }),
  );
  const device = model.gpuLayers > 0 && llama.gpu !== false ? llama.gpu : "cpu";
  const context = await attempt("The model's context cannot be made", () => createContext(model, settings, device));
  const threads = new ThreadCount(settings.threads ?? usefulThreads(llama.cpuMathCores)).start();
  return { model, context, threads, device };
}

function loadBinding({ gpu }: LoadSettings): Promise<Llama> {
  return getLlama({ gpu, build: "never", skipDownload: true, progressLogs: false, logLevel: LlamaLogLevel.warn });
}

function createContext(model: LlamaModel, settings: LoadSettings, device: string): Promise<LlamaContext> {
  const { slots, flashAttention } = settings;
  return model.createContext({
    sequences: slots,
    contextSize: settings.contextSize ?? Math.min(model.trainContextSize, DEFAULT_CONTEXT_SIZE),
    batchSize: Math.max(settings.batchSize, slots),
    // In blocks, the CPU's threads share one answer's attention out among them, and each number of threads rounds otherwise:
    // the same seed would draw another text whenever the machine's load changes.
    flashAttention: flashAttention === "auto" && device === "cpu" ? false : flashAttention,
    // An upper bound only, for a binding that allows fewer by `maxThreads`.
    threads: settings.threads ?? usefulThreads(model.llama.cpuMathCores),
    // A smaller context than was asked for would be a silent cut.
    failedCreationRemedy: false,
    // The batch loop fills each batch itself, never beyond its size.
    batching: {
      itemPrioritizationStrategy: ({ items }) => items.map((item) => ({ item, processAmount: item.tokens.length })),
    },
  });
}

async function attempt<Result>(what: string, make: () => Promise<Result>): Promise<Result> {
  try {
    return await make();
  } catch (error) {
    throw unavailable(`${what}: ${(error as Error).message}`, "engine_failed", 60, error);
  }
}
