import type { ChatModel } from "../../src/engines/chat-model.ts";
import type { Hosted } from "../../src/engines/host/host-model.ts";
import { llamaCppEngine } from "../../src/engines/llama-cpp/llama-cpp-engine.ts";
import { llamaCppSettings } from "../../src/engines/llama-cpp/settings.ts";
import { defaultChatModelPath } from "./default-model.ts";
import { makeEngineServices } from "./engine-services.ts";

/** The default chat model, on the CPU, in its own process. */
export async function openLlamaCpp(settings: Record<string, unknown> = {}): Promise<Hosted<ChatModel>> {
  const path = await defaultChatModelPath();
  const services = makeEngineServices({ pull: async () => ({ path, paths: {} }) });
  const checked = llamaCppSettings.parse({ file: path, gpu: false, context_size: 1024, ...settings });
  return (await llamaCppEngine.open(checked, "chat", services)) as Hosted<ChatModel>;
}
