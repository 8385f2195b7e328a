import { unsupportedValue } from "../../faults.ts";
import type { Engine } from "../engine.ts";
import { hostModel } from "../host/host-model.ts";
import { siblingModule } from "../host/sibling-module.ts";
import type { LoadSettings } from "./load-model.ts";
import type { LlamaCppSettings } from "./settings.ts";

/** GGUF models through llama.cpp, in a supervised process of their own. */
export const llamaCppEngine: Engine<LlamaCppSettings> = {
  async open({ reference, ...settings }, task, services) {
    if (task !== "chat") throw unsupportedValue(`The engine llama-cpp does not do ${task}; only chat.`, "task");
    const files = await services.pull(reference, services.signal);
    return hostModel({
      name: services.name,
      module: siblingModule(import.meta.url, "./llama-cpp-child"),
      settings: { ...settings, path: files.path } satisfies LoadSettings,
      // With more, evaluating and sampling wake threads of their own each time: 34 tokens a second instead of 48, measured.
      environment: { UV_THREADPOOL_SIZE: "1" },
      logger: services.logger,
      signal: services.signal,
    });
  },
};
