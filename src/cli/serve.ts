/** `parlance serve`: the service at a terminal. */

import { flushCompileCache } from "node:module";
import { setFlagsFromString } from "node:v8";
import { loadConfig } from "../config/load-config.ts";
import { reloadConfig } from "../config/reload-config.ts";
import { run } from "../main.ts";
import { createModelStore } from "../models/create-model-store.ts";
import { STAGE, VERSION } from "../version.ts";
import { configSources } from "./config-sources.ts";
import { openLog } from "./open-log.ts";
import { createProgress } from "./progress.ts";
import { welcome } from "./welcome.ts";

const V8_FLAGS = [
  // V8 sees the objects of requests in flight survive, takes their kind for long-lived and lays all later ones among
  // the old, where they wait for a full collection: small ones take 10 ms instead of 1, and garbage fills the memory.
  "--no-allocation-site-pretenuring",
  // Memory that is plentiful would else be filled with garbage.
  "--heap-growing-percent=50",
  // V8 would else collect to save memory after each busy moment, and the next one would be a tenth slower for it. That
  // is done once a busy time is over (`process/idle-memory.ts`).
  "--no-memory-reducer",
];

/** Resolves with the exit code; throws a Fault. */
export async function serve(): Promise<number> {
  for (const flag of V8_FLAGS) setFlagsFromString(flag);
  const sources = configSources();
  const config = await loadConfig(sources);
  const logger = openLog(config.logLevel);
  for (const warning of config.warnings) logger.warn(warning);
  process.stdout.write(`Parlance ${VERSION} (${STAGE})\n`);
  const progress = createProgress(process.stdout);
  return run({
    config,
    logger,
    store: createModelStore(config, logger),
    onPullProgress: (event) => progress.update(event),
    reload: (current) => reloadConfig(current, sources),
    onListening: (listening) => {
      // Not left to the end, since services are killed.
      flushCompileCache();
      return welcome(listening, config, progress);
    },
  });
}
