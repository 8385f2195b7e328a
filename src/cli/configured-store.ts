import { loadConfig } from "../config/load-config.ts";
import { createModelStore } from "../models/create-model-store.ts";
import type { ModelStore } from "../models/model-store.ts";
import { configSources } from "./config-sources.ts";
import { openLog } from "./open-log.ts";

/** The store that the service in this working directory and environment would use. Throws a Fault for a bad configuration. */
export async function openConfiguredStore(): Promise<ModelStore> {
  const config = await loadConfig(configSources());
  return createModelStore(config, openLog("warn"));
}
