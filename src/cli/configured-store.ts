import { sep } from "node:path";
import { loadConfig } from "../config/load-config.ts";
import { createDataDirectory } from "../kernel/process/data-directory.ts";
import { createModelStore } from "../model-store/create-model-store.ts";
import type { ModelStore } from "../model-store/model-store.ts";
import { openLog } from "../observability/open-log.ts";
import { configSources } from "./config-sources.ts";

/** Opens the model store that the service would use in this directory and environment. Throws a Fault for an invalid configuration. */
export async function openConfiguredStore(access: "read" | "write"): Promise<ModelStore> {
  const config = await loadConfig(configSources());
  const { dataDirectory, modelsDirectory } = config;
  // Before the service's first start the store would create it, readable for everyone.
  if (access === "write" && modelsDirectory.startsWith(dataDirectory + sep)) createDataDirectory(dataDirectory);
  return createModelStore(config, openLog("warn"));
}
