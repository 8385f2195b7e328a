import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ChatModel } from "../../../src/contracts/chat-model.ts";
import type { Hosted } from "../../../src/engines/host/host-model.ts";
import { llamaCppEngine } from "../../../src/engines/llama-cpp/llama-cpp-engine.ts";
import { llamaCppSettings } from "../../../src/engines/llama-cpp/settings.ts";
import { temporaryDirectory } from "../service/temporary-directory.ts";
import { defaultChatModelPath } from "./default-model.ts";
import { makeEngineServices } from "./engine-services.ts";
import { shallowModelPath } from "./shallow-model.ts";

type Settings = Record<string, unknown>;

/** The default chat model, on the CPU, in its own process. */
export async function openLlamaCpp(settings: Settings = {}): Promise<Hosted<ChatModel>> {
  return await open(await defaultChatModelPath(), settings);
}

/** The first layers of the default chat model, for tests that do not depend on what it says. */
export async function openShallowLlamaCpp(settings: Settings = {}): Promise<Hosted<ChatModel>> {
  return await open(await shallowModelPath(await defaultChatModelPath()), settings);
}

/** A model whose chat template is replaced. */
export async function openWithTemplate(template: string, openModel = openShallowLlamaCpp): Promise<Hosted<ChatModel>> {
  await using directory = await temporaryDirectory();
  const file = join(directory.path, "template.jinja");
  await writeFile(file, template);
  return await openModel({ chat_template_file: file });
}

async function open(path: string, settings: Settings): Promise<Hosted<ChatModel>> {
  const services = makeEngineServices({ pull: async () => ({ path, paths: {} }) });
  const checked = llamaCppSettings.parse({ file: path, gpu: false, context_size: 1024, ...settings });
  return (await llamaCppEngine.open(checked, "chat", services)) as Hosted<ChatModel>;
}
