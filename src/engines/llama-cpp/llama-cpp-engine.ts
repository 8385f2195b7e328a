import { unsupportedValue } from "../../kernel/faults.ts";
import { defineEngine } from "../define-engine.ts";
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
  module: siblingModule(import.meta.url, "./llama-cpp-child"),
  environment: async (settings: ChildSettings) => ({ UV_THREADPOOL_SIZE: String(await poolThreads(settings)) }),
  usesGpu: (settings) => usesGpu(settings),
  afterCrash(settings: ChildSettings, reason) {
    if (settings.gpu !== "auto") return undefined;
    const why = reason === undefined ? "" : ` (${reason})`;
    return {
      prepared: { ...settings, gpu: false },
      warning: `llama.cpp crashed on this machine's GPU${why}. The model runs on the CPU instead, which is slower. \`parlance doctor\` checks the GPU; see docs/how-to/use-a-gpu.md`,
    };
  },
  async prepare({ reference, ...settings }, task, { pull, signal }): Promise<ChildSettings> {
    if (task === "embedding" && settings.lora.length > 0) {
      throw unsupportedValue("LoRA adapters work with the task chat, not with embedding.", "lora");
    }
    return { ...settings, task, path: (await pull(reference, signal)).path };
  },
});
