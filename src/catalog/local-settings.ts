/** Section `local`. */

import { z } from "zod";
import { mapping } from "../kernel/settings/mapping.ts";
import { memory } from "../kernel/settings/sizes.ts";
import { load, unloadAfterSeconds } from "./model-settings.ts";

const defaultModel = (description: string) => z.string().min(1).max(200).default("auto").describe(description);

export const localSettings = mapping(
  () => ({
    load: load
      .default("on_demand")
      .describe(
        "When to load local models. start: when Parlance starts. on_demand: at the first request for the model.",
      ),
    unload_after_seconds: unloadAfterSeconds
      .default(300)
      .describe("Seconds without a request after which a local model is unloaded; 0 keeps it loaded."),
    memory: memory
      .optional()
      .describe(
        "Memory that all local models may use together, such as 8GiB; the least recently used idle models are unloaded to make room. Default: three quarters of the machine's memory or of the container's limit.",
      ),
    gpu_memory: memory
      .optional()
      .describe(
        "Memory of the GPUs that all local models may use together, such as 20GiB; the least recently used idle models are unloaded to make room. Default: 95% of what `nvidia-smi` reports, otherwise no limit.",
      ),
    default_chat_model: defaultModel(
      "Built-in chat model that is listed first and shown in examples once its files are on the disk. auto: a larger model than smollm2-135m-instruct where memory allows, qwen2.5-coder-1.5b-instruct (1.1 GB) with 4 GB of free memory or qwen2.5-coder-0.5b-instruct (491 MB) with 2 GB. It is downloaded in the background after the start, unless `models` has a chat model or CI is true. An ID: this model, downloaded in the background. smollm2-135m-instruct: no further download.",
    ),
    default_speech_model: defaultModel(
      "Built-in speech model that OpenAI's names stand for once its files are on the disk. auto: kokoro-82m (130 MB) with four cores and 4 GB of memory, otherwise hibari. It is downloaded in the background after the start, unless `models` has a speech model or CI is true. An ID: this model, downloaded in the background.",
    ),
    default_moderation_model: defaultModel(
      "Built-in moderation model that OpenAI's names stand for. auto: moderation-qwen, which asks qwen2.5-coder-1.5b-instruct about texts that moderation-omni is unsure about, where that model is on the disk, with four cores and 8 GB of memory; otherwise moderation-omni. An ID: this model.",
    ),
  }),
  "Loading and unloading of models that run on this machine.",
);

export type LocalSettings = z.output<typeof localSettings>;

declare module "../kernel/settings/settings.ts" {
  interface Settings {
    local: z.output<typeof localSettings>;
  }
}
