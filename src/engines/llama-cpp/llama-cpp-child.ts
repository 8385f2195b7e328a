/** What runs in the process of a GGUF model. */

import { readFile } from "node:fs/promises";
import { unavailable } from "../../faults.ts";
import type { ChatModel } from "../chat-model.ts";
import type { HostedServices } from "../host/model-child.ts";
import { LlamaChat } from "./llama-chat.ts";
import { type LoadSettings, loadModel } from "./load-model.ts";

export async function open(settings: LoadSettings, { warn }: HostedServices): Promise<ChatModel> {
  const loaded = await loadModel(settings);
  const { contextSize } = loaded.context;
  const { trainContextSize } = loaded.model;
  if (contextSize > trainContextSize) {
    warn(
      `context_size is ${contextSize} tokens, but the model was trained with ${trainContextSize}; expect nonsense beyond`,
    );
  }
  const { prefixReuse, maxChoices, chatTemplateFile } = settings;
  const chatTemplate = chatTemplateFile === undefined ? undefined : await readTemplate(chatTemplateFile);
  return new LlamaChat({ ...loaded, prefixReuse, maxChoices, chatTemplate, warn });
}

async function readTemplate(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw unavailable(`chat_template_file cannot be read: ${(error as Error).message}`, "engine_failed", 600, error);
  }
}
