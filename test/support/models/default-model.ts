import { resolve } from "node:path";
import { createLogger } from "../../../src/kernel/logger.ts";
import { createModelStore } from "../../../src/model-store/create-model-store.ts";
import type { ModelStore } from "../../../src/model-store/model-store.ts";

export const DEFAULT_CHAT_MODEL = "smollm2-135m-instruct";

/** Folder of real weights for tests, shared with the service to download them once. */
export const TEST_MODELS_DIRECTORY = resolve(
  process.env.PARLANCE_MODELS_DIR || resolve(import.meta.dirname, "../../../.parlance/models"),
);

/** The store that tests share with the service in this checkout. */
export function testModelStore(): ModelStore {
  return createModelStore(
    {
      modelsDirectory: TEST_MODELS_DIRECTORY,
      hub: { endpoint: "https://huggingface.co", token: undefined, offline: false },
    },
    createLogger("silent"),
  );
}

/** Absolute path of the default chat model's weights, fetched (98 MB) when they are not there. Throws when they cannot be had. */
export async function defaultChatModelPath(): Promise<string> {
  const { path } = await testModelStore().pull({ model: DEFAULT_CHAT_MODEL }, { signal: AbortSignal.timeout(280_000) });
  return path;
}
