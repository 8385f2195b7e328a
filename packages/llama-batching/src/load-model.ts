/** Loads a GGUF file and creates its context, with one sequence for each slot. */

import { access } from "node:fs/promises";
import { getLlama, type Llama, type LlamaContext, LlamaLogLevel, type LlamaModel } from "node-llama-cpp";
import { type ContextChoice, chooseContextSize, smallerSize } from "./context-size.ts";
import { GpuMemoryError, ModelError } from "./errors.ts";
import { type ContextGrowth, INITIAL_TOKENS } from "./evaluation/growing-context.ts";
import { removeAbandonedStates } from "./evaluation/state-directory.ts";
import { fewerLayers, fitOnGpu, type GpuFit } from "./gpu-fit.ts";
import { explainMissingBackend } from "./gpu-support.ts";
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
  /** Limit of tokens in a batch. Undefined: 256, and on a GPU 2,048 where its memory allows. */
  batchSize: number | undefined;
  /** Applied to all sequences. */
  lora: readonly LoraAdapter[];
}

export interface LoadedModel {
  model: LlamaModel;
  context: LlamaContext;
  device: string;
  /** Memory of the GPU that the model has taken; undefined on a CPU. */
  gpuBytes: number | undefined;
  /** How the context grows up to the window; undefined: it has room for the entire window. */
  growth: ContextGrowth | undefined;
  /** Why the context window has its size. */
  contextReason: ContextChoice["reason"];
  /** Consulted before each batch. */
  threads: ThreadCount;
  /** Limit of tokens in a batch. */
  batchSize: number;
  /** Whether flash attention splits the keys of a token that is evaluated alone among the threads. */
  splitsKeys: boolean;
}

const CPU_BATCH_SIZE = 256;
const GPU_BATCH_SIZE = 2048;
/** A batch needs logits and buffers of some 1 GB for 2,048 tokens. */
const SMALL_GPU = { freeBytes: 16e9, batchSize: 512 };

/** Throws a ModelError that names the step that failed. Never builds or downloads anything. */
export async function loadModel(options: LoadOptions): Promise<LoadedModel> {
  // llama.cpp does not name the file.
  for (const { path } of options.lora) await attempt("The LoRA adapter cannot be read", () => access(path));
  const llama = await loadBinding(options);
  const before = llama.gpu === false ? undefined : await llama.getVramState();
  const batchSize = options.batchSize ?? defaultBatchSize(before?.free);
  const fit = before && (await fitOnGpu(llama, { ...options, batchSize, freeBytes: before.free }));
  const opened = await openFitting(llama, options, fit && { ...fit, batchSize });
  const { model, device, context, growth, contextReason, flashAttention } = opened;
  const isOnGpu = device !== "cpu";
  if (isOnGpu) await evaluateOneToken(context);
  const after = isOnGpu ? await llama.getVramState() : undefined;
  const threads = new ThreadCount(options.threads ?? usefulThreads(llama.cpuMathCores)).start();
  return {
    model,
    context,
    growth,
    threads,
    device,
    gpuBytes: after && Math.max(0, after.used - (before?.used ?? 0)),
    contextReason,
    batchSize: Math.max(opened.batchSize, options.slots),
    splitsKeys: flashAttention !== false && device === "cpu",
  };
}

interface Opened extends Pick<LoadedModel, "model" | "context" | "growth" | "device" | "contextReason" | "batchSize"> {
  flashAttention: LoadOptions["flashAttention"];
}

/** Estimates can be lower than what the driver needs: layers that were not configured become fewer then. */
async function openFitting(
  llama: Llama,
  options: LoadOptions,
  fit: (GpuFit & { batchSize: number }) | undefined,
  gpuLayers = fit?.gpuLayers ?? 0,
): Promise<Opened> {
  let opened: { model: LlamaModel; device: string } | undefined;
  try {
    opened = await openModelFile({ ...options, gpuLayers }, llama);
    const { model, device } = opened;
    const onGpu = device === "cpu" ? undefined : fit;
    const batchSize = options.batchSize ?? onGpu?.batchSize ?? CPU_BATCH_SIZE;
    const sized = { ...options, batchSize };
    const choice =
      onGpu ?? (await attempt("The context size cannot be chosen", () => contextSizeFor(model, sized, device)));
    const flashAttention = flashAttentionFor(model, options, device);
    const growth = device === "cpu" ? growthOf(model, { ...sized, flashAttention }, choice.contextSize) : undefined;
    await removeAbandonedStates();
    const initial = growth === undefined ? choice : { ...choice, contextSize: INITIAL_TOKENS };
    const { context, reason } = await attempt("The model's context cannot be created", () =>
      createFittingContext(model, { ...sized, flashAttention }, initial),
    );
    return { model, device, context, growth, contextReason: reason, flashAttention, batchSize };
  } catch (failure) {
    if (options.gpuLayers !== undefined) throw failure;
    await opened?.model.dispose();
    // A context has buffers on the GPU without any layers there, too.
    if (gpuLayers === 0 && fit !== undefined) throw new GpuMemoryError((failure as Error).message, 60, failure);
    if (gpuLayers === 0) throw failure;
    return await openFitting(llama, options, fit, fewerLayers(gpuLayers));
  }
}

function defaultBatchSize(freeBytes: number | undefined): number {
  if (freeBytes === undefined) return CPU_BATCH_SIZE;
  return freeBytes < SMALL_GPU.freeBytes ? SMALL_GPU.batchSize : GPU_BATCH_SIZE;
}

/** Loads the weights. `llama`: the binding, if it is loaded. Throws a ModelError. */
export async function openModelFile(
  options: Pick<LoadOptions, "path" | "gpu" | "gpuLayers">,
  llama?: Llama,
): Promise<{ llama: Llama; model: LlamaModel; device: string }> {
  const binding = llama ?? (await loadBinding(options));
  const model = await attempt("The model file cannot be loaded", () =>
    binding.loadModel({
      modelPath: options.path,
      gpuLayers: options.gpuLayers ?? "auto",
      // The number was chosen by the free memory (`fitOnGpu`), and the binding reserves more.
      ignoreMemorySafetyChecks: llama !== undefined,
    }),
  );
  const device = model.gpuLayers > 0 && binding.gpu !== false ? binding.gpu : "cpu";
  return { llama: binding, model, device };
}

type SizedOptions = LoadOptions & { batchSize: number };

/** A window that was not configured becomes smaller where there is no memory for it after all. */
async function createFittingContext(
  model: LlamaModel,
  options: SizedOptions,
  { contextSize, reason }: ContextChoice,
): Promise<{ context: LlamaContext; reason: ContextChoice["reason"] }> {
  try {
    return { context: await createContext(model, { ...options, contextSize }), reason };
  } catch (failure) {
    const smaller = reason === "configured" ? undefined : smallerSize(contextSize);
    if (smaller === undefined) throw failure;
    return await createFittingContext(model, options, { contextSize: smaller, reason: "memory" });
  }
}

/**
 * A GPU whose driver refuses the kernels aborts the process at the first token: here, where it fails the load instead of
 * a request.
 */
async function evaluateOneToken(context: LlamaContext): Promise<void> {
  const sequence = context.getSequence();
  const { bos, eos } = context.model.tokens;
  await attempt("The model cannot evaluate a token", async () => {
    await sequence.evaluateWithoutGeneratingNewTokens([bos ?? eos ?? (0 as never)]);
    await sequence.clearHistory();
  });
  sequence.dispose();
}

async function loadBinding({ gpu }: Pick<LoadOptions, "gpu">): Promise<Llama> {
  try {
    return await getLlama({
      gpu,
      build: "never",
      skipDownload: true,
      progressLogs: false,
      logLevel: LlamaLogLevel.warn,
    });
  } catch (failure) {
    throw new ModelError(await explainMissingBackend(gpu, failure as Error), 60, failure);
  }
}

async function contextSizeFor(model: LlamaModel, options: SizedOptions, device: string): Promise<ContextChoice> {
  if (options.contextSize !== undefined) return { contextSize: options.contextSize, reason: "configured" };
  return await chooseContextSize({
    trainedSize: model.trainContextSize,
    availableBytes: process.availableMemory(),
    estimateBytes: estimatorFor(model, { ...options, flashAttention: flashAttentionFor(model, options, device) }),
  });
}

/** Returns what estimates the main memory of a context of all slots. */
function estimatorFor(model: LlamaModel, { slots, batchSize, flashAttention }: SizedOptions) {
  return async (contextSize: number): Promise<number> => {
    const { cpuRam } = await model.fileInsights.estimateContextResourceRequirementsV2({
      contextSize,
      modelGpuLayers: model.gpuLayers,
      sequences: slots,
      batchSize,
      flashAttention,
    });
    return cpuRam;
  };
}

/** Undefined: the window is small, or a state cannot be restored in a larger context. */
function growthOf(model: LlamaModel, options: SizedOptions, window: number): ContextGrowth | undefined {
  if (window <= INITIAL_TOKENS || scalesWithContext(model)) return undefined;
  return {
    window,
    create: (contextSize) => createContext(model, { ...options, contextSize }),
    estimateBytes: estimatorFor(model, options),
    availableBytes: () => process.availableMemory(),
    slidingWindow: model.fileInsights.swaSize,
    hasFixedState: !hasPlainCache(model),
  };
}

/** Whether llama.cpp chooses the factors of the positions by the size of the context (LongRoPE: Phi 3 and others). */
export function scalesWithContext({ fileInfo: { metadata } }: LlamaModel): boolean {
  const { [metadata.general.architecture]: values } = metadata as unknown as Record<string, unknown>;
  const { rope } = (values ?? {}) as { rope?: { scaling?: { type?: string; original_context_length?: number } } };
  return rope?.scaling?.original_context_length !== undefined && rope.scaling.type !== "yarn";
}

/** On a CPU, `auto` is off for a model whose padding tokens could not be erased (`RepeatableEvaluation`). */
function flashAttentionFor(
  model: LlamaModel,
  { flashAttention }: LoadOptions,
  device: string,
): LoadOptions["flashAttention"] {
  return flashAttention === "auto" && device === "cpu" && !hasPlainCache(model) ? false : flashAttention;
}

/** Whether the cache has keys and values of each token, any of which can be erased. */
function hasPlainCache({ fileInsights: { isRecurrent, isHybrid, swaSize } }: LlamaModel): boolean {
  return !isRecurrent && !isHybrid && swaSize === undefined;
}

function createContext(model: LlamaModel, options: SizedOptions): Promise<LlamaContext> {
  const { slots, flashAttention } = options;
  return model.createContext({
    sequences: slots,
    contextSize: options.contextSize,
    // Room for a padding of each request's token.
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
