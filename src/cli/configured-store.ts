import { loadConfig } from "../config/load-config.ts";
import { createModelStore } from "../models/create-model-store.ts";
import type { ModelStore } from "../models/model-store.ts";
import { configSources } from "./config-sources.ts";
import { openLog } from "./open-log.ts";

/** Opens the model store that the service would use in this directory and environment. Throws a Fault for an invalid configuration. */
export async function openConfiguredStore(): Promise<ModelStore> {
  const config = await loadConfig(configSources());
  return createModelStore(config, openLog("warn"));
}
