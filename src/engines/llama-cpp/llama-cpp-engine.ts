import { defineEngine } from "../define-engine.ts";
import { siblingModule } from "../host/sibling-module.ts";
import type { LoadSettings } from "./load-model.ts";
import { llamaCppSettings } from "./settings.ts";

/** GGUF models through llama.cpp. */
export const llamaCppEngine = defineEngine({
  name: "llama-cpp",
  tasks: ["chat"],
  settings: llamaCppSettings,
  module: siblingModule(import.meta.url, "./llama-cpp-child"),
  // With more, evaluating and sampling wake threads of their own each time: 34 tokens a second instead of 48, measured.
  environment: { UV_THREADPOOL_SIZE: "1" },
  async prepare({ reference, ...settings }, _task, { pull, signal }): Promise<LoadSettings> {
    return { ...settings, path: (await pull(reference, signal)).path };
  },
});
