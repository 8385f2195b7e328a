import pino from "pino";
import { loadConfig } from "../config/load-config.ts";
import { createModelStore } from "../models/create-model-store.ts";
import type { ModelStore } from "../models/model-store.ts";
import { createLogger } from "../observability/logger.ts";
import { configSources } from "./config-sources.ts";

const STANDARD_ERROR = 2;

/** The store that the service in this working directory and environment would use. Throws a Fault for a bad configuration. */
export async function openConfiguredStore(): Promise<ModelStore> {
  const config = await loadConfig(configSources());
  return createModelStore(config, createLogger("warn", pino.destination(STANDARD_ERROR)));
}
