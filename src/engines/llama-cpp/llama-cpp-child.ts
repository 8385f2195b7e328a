/** What runs in the process of a GGUF model. */

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
  return new LlamaChat({ ...loaded, prefixReuse: settings.prefixReuse, warn });
}
