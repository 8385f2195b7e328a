/** Loads a GGUF model in its child process. */

import { readFile } from "node:fs/promises";
import { EmbeddingModel as GgufEmbeddingModel } from "@parlance-inference/llama-batching/embedding-model";
import { describeMissingSupport } from "@parlance-inference/llama-batching/gpu-support";
import { type LoadOptions, loadModel, openModelFile } from "@parlance-inference/llama-batching/load-model";
import { openStoredStates } from "@parlance-inference/llama-batching/open-stored-states";
import { isRankingModel, RankingModel } from "@parlance-inference/llama-batching/ranking-model";
import type { ChatModel } from "../../contracts/chat-model.ts";
import type { EmbeddingModel } from "../../contracts/embedding-model.ts";
import type { Task } from "../../contracts/task.ts";
import { unavailable } from "../../kernel/faults.ts";
import { nvidiaGpus } from "../../kernel/process/gpus.ts";
import type { HostedServices } from "../host/model-child.ts";
import { LlamaChat } from "./llama-chat.ts";
import { LlamaEmbedding } from "./llama-embedding.ts";
import { LlamaRanking } from "./llama-ranking.ts";
import type { LlamaCppSettings } from "./settings.ts";
import { toFault } from "./to-fault.ts";

export type ChildSettings = Omit<LlamaCppSettings, "reference"> &
  LoadOptions & { task: Task; promptCache?: { directory: string; key: Uint8Array; maxBytes: number } | undefined };

export async function open(settings: ChildSettings, services: HostedServices): Promise<ChatModel | EmbeddingModel> {
  return settings.task === "embedding" ? openEmbedding(settings) : openChat(settings, services);
}

async function openEmbedding(settings: ChildSettings): Promise<EmbeddingModel> {
  try {
    const file = await openModelFile(settings);
    return isRankingModel(file.model)
      ? new LlamaRanking(await RankingModel.create(file, settings), settings.slots)
      : new LlamaEmbedding(await GgufEmbeddingModel.create(file, settings), settings);
  } catch (error) {
    throw toFault(error);
  }
}

async function openChat(settings: ChildSettings, { warn }: HostedServices): Promise<ChatModel> {
  const { prefixReuse, maxChoices, chatTemplateFile, promptCache } = settings;
  const chatTemplate = chatTemplateFile === undefined ? undefined : await readTemplate(chatTemplateFile);
  try {
    const loaded = await loadModel(settings);
    const contextSize = loaded.growth?.window ?? loaded.context.contextSize;
    const { trainContextSize } = loaded.model;
    if (contextSize > trainContextSize) {
      warn(
        `context_size is ${contextSize} tokens, but the model was trained with ${trainContextSize}. Expect incoherent output beyond that.`,
      );
    }
    if (settings.gpu === "auto" && loaded.device === "cpu") await warnOfUnusedGpu(settings, warn);
    const storedStates = promptCache && (await openStoredStates({ ...promptCache, warn }, settings, loaded));
    return new LlamaChat({ ...loaded, prefixReuse, maxChoices, chatTemplate, storedStates, warn });
  } catch (error) {
    throw toFault(error);
  }
}

/** A GPU that nothing uses is a mistake of the installation more often than a decision. */
async function warnOfUnusedGpu({ gpuLayers }: ChildSettings, warn: HostedServices["warn"]): Promise<void> {
  const [gpu] = gpuLayers === 0 ? [] : await nvidiaGpus();
  if (gpu === undefined) return;
  const why = describeMissingSupport("auto") ?? "its memory is in use, or llama.cpp does not support it.";
  warn(`The model runs on the CPU although this machine has an ${gpu.name}: ${why} \`gpu: false\` silences this.`);
}

async function readTemplate(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw unavailable(`chat_template_file cannot be read: ${(error as Error).message}`, "engine_failed", 600, error);
  }
}
