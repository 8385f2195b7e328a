import { estimateContextBytes } from "@parlance-inference/llama-batching/context-memory";
import { Fault, unsupportedValue } from "../../kernel/faults.ts";
import { defineEngine } from "../define-engine.ts";
import { OpenCrash } from "../host/open-crash.ts";
import { siblingModule } from "../host/sibling-module.ts";
import { poolThreads, usesGpu } from "./gpu-use.ts";
import type { ChildSettings } from "./llama-cpp-child.ts";
import { llamaCppSettings } from "./settings.ts";

/** GGUF models through llama.cpp. */
export const llamaCppEngine = defineEngine({
  name: "llama-cpp",
  tasks: ["chat", "embedding"],
  settings: llamaCppSettings,
  files: ({ lora, chatTemplateFile }) => [
    ...lora.map(({ path }) => path),
    ...(chatTemplateFile === undefined ? [] : [chatTemplateFile]),
  ],
  // The file says the rest, such as whether the model reasons; it is read by the first load, and remembered.
  describe: async ({ contextSize, maxChoices }, task) => {
    const contextWindow = typeof contextSize === "number" ? contextSize : undefined;
    if (task === "embedding") return { task, contextWindow };
    const abilities = { tools: true, jsonSchema: true, logprobs: true, vision: false, completions: true } as const;
    const unread = { reasoning: undefined, infill: undefined };
    return { task: "chat", contextWindow, abilities: { ...abilities, ...unread, choices: maxChoices } };
  },
  module: siblingModule(import.meta.url, "./llama-cpp-child"),
  environment: async (settings: ChildSettings) => ({ UV_THREADPOOL_SIZE: String(await poolThreads(settings)) }),
  usesGpu: (settings) => usesGpu(settings),
  // An unreadable file fails the load, which says why.
  contextBytes: async (settings: ChildSettings) =>
    settings.task === "embedding" ? 0 : await estimateContextBytes(settings).catch(() => 0),
  afterFailure(settings: ChildSettings, failure) {
    const why = settings.gpu === "auto" ? describeGpuFailure(failure) : undefined;
    if (why === undefined) return undefined;
    return {
      prepared: { ...settings, gpu: false },
      warning: `llama.cpp cannot use this machine's GPU (${why}). The model runs on the CPU instead, which is slower. \`parlance doctor\` checks the GPU; see docs/how-to/use-a-gpu.md`,
    };
  },
  async prepare({ reference, ...settings }, task, { pull, promptCache, signal }): Promise<ChildSettings> {
    const { lora, promptCacheBytes, prefixReuse } = settings;
    if (task === "embedding" && lora.length > 0) {
      throw unsupportedValue("LoRA adapters work with the task chat, not with embedding.", "lora");
    }
    if (promptCacheBytes > 0 && (task === "embedding" || !prefixReuse)) {
      throw unsupportedValue("prompt_cache_gb works with the task chat and prefix_reuse.", "prompt_cache_gb");
    }
    const directory = promptCacheBytes > 0 ? promptCache?.() : undefined;
    if (promptCacheBytes > 0 && directory === undefined) {
      throw unsupportedValue("prompt_cache_gb needs a key: set PARLANCE_ENCRYPTION_KEY.", "prompt_cache_gb");
    }
    const { path } = await pull(reference, signal);
    return { ...settings, task, path, promptCache: directory && { ...directory, maxBytes: promptCacheBytes } };
  },
});

/** Undefined: a failure that the CPU would not change. */
function describeGpuFailure(failure: unknown): string | undefined {
  if (failure instanceof OpenCrash) return failure.reason ?? "its process crashed";
  return failure instanceof Fault && failure.code === "insufficient_memory" ? failure.message : undefined;
}
