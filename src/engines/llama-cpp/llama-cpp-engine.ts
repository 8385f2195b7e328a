import { unsupportedValue } from "../../kernel/faults.ts";
import { defineEngine } from "../define-engine.ts";
import { siblingModule } from "../host/sibling-module.ts";
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
  // With more threads, evaluation and sampling wake other threads each time: 34 instead of 48 tokens/s.
  environment: { UV_THREADPOOL_SIZE: "1" },
  async prepare({ reference, ...settings }, task, { pull, signal }): Promise<ChildSettings> {
    if (task === "embedding" && settings.lora.length > 0) {
      throw unsupportedValue("LoRA adapters work with the task chat, not with embedding.", "lora");
    }
    return { ...settings, task, path: (await pull(reference, signal)).path };
  },
});
