/** `parlance serve`: runs the service. */

import { flushCompileCache } from "node:module";
import { setFlagsFromString } from "node:v8";
import { loadConfig } from "../config/load-config.ts";
import { reloadConfig } from "../config/reload-config.ts";
import { run } from "../main.ts";
import { createModelStore } from "../models/create-model-store.ts";
import { openLogExport } from "../observability/open-telemetry.ts";
import { buildConsoleInBackground } from "../process/build-console.ts";
import { createDataDirectory, warnIfAccessibleToOthers } from "../process/data-directory.ts";
import { STAGE, VERSION } from "../version.ts";
import { configSources } from "./config-sources.ts";
import { openLog } from "./open-log.ts";
import { createProgress } from "./progress.ts";
import { welcome } from "./welcome.ts";

const V8_FLAGS = [
  // Objects of active requests survive a scavenge, so V8 would pretenure all later ones in the old generation, where
  // they wait for a full collection: scavenges take 10 ms instead of 1 ms, and garbage fills the heap.
  "--no-allocation-site-pretenuring",
  // Otherwise the heap grows with garbage as long as memory is free.
  "--heap-growing-percent=50",
  // Otherwise V8 collects after each burst of requests, which makes the next burst 10 % slower. `process/idle-memory.ts`
  // releases memory once the service is idle.
  "--no-memory-reducer",
];

/** Resolves with the exit code; throws a Fault. */
export async function serve(environment: NodeJS.ProcessEnv): Promise<number> {
  for (const flag of V8_FLAGS) setFlagsFromString(flag);
  const sources = { ...configSources(), environment };
  const config = await loadConfig(sources);
  await using exported = await openLogExport(config.openTelemetry);
  const logger = openLog(config.logLevel, exported);
  createDataDirectory(config.dataDirectory);
  warnIfAccessibleToOthers(config.dataDirectory, logger);
  for (const warning of config.warnings) logger.warn(warning);
  process.stdout.write(`Parlance ${VERSION} (${STAGE})\n`);
  const progress = createProgress(process.stdout);
  return await run({
    config,
    logger,
    store: createModelStore(config, logger),
    onPullProgress: (event) => progress.update(event),
    reload: (current) => reloadConfig(current, sources),
    onListening: (listening) => {
      // Not at exit, since services are often killed.
      flushCompileCache();
      if (config.server.hasConsole) buildConsoleInBackground(logger);
      return welcome(listening, config, progress);
    },
  });
}
