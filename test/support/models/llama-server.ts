import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import type { ChatModel } from "../../../src/contracts/chat-model.ts";
import { llamaServerEngine } from "../../../src/engines/llama-server/llama-server-engine.ts";
import { llamaServerSettings } from "../../../src/engines/llama-server/settings.ts";
import { defaultChatModelPath } from "./default-model.ts";
import { makeEngineServices } from "./engine-services.ts";

/** Path from LLAMA_SERVER or PATH; `scripts/build-llama-server.sh` builds one. */
export const llamaServerBinary: string | undefined = findLlamaServer();

export const WITHOUT_LLAMA_SERVER =
  "no llama-server here: scripts/build-llama-server.sh builds one, LLAMA_SERVER names it";

/** The default chat model behind a llama-server. */
export async function openLlamaServer(
  settings: Record<string, unknown> = {},
): Promise<ChatModel & { logged: string[] }> {
  const path = await defaultChatModelPath();
  const services = makeEngineServices({ pull: async () => ({ path, paths: {} }) });
  const checked = llamaServerSettings.parse({
    binary: llamaServerBinary,
    file: path,
    context_size: 1024,
    slots: 4,
    gpu_layers: 0,
    // More threads wait for each other at every step, which takes seconds per token on a busy machine.
    threads: 1,
    ...settings,
  });
  const model = (await llamaServerEngine.open(checked, "chat", services)) as ChatModel;
  return Object.assign(model, { logged: services.logged });
}

function findLlamaServer(): string | undefined {
  const named = process.env.LLAMA_SERVER;
  const onPath = (process.env.PATH ?? "").split(delimiter).map((folder) => join(folder, "llama-server"));
  return (named === undefined ? onPath : [named]).find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
