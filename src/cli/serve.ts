/** `parlance serve`: runs the service. */

import { existsSync } from "node:fs";
import { flushCompileCache } from "node:module";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { loadConfig } from "../config/load-config.ts";
import type { BootstrapKeys } from "../features/accounts/accounts.ts";
import type { Logger } from "../kernel/logger.ts";
import { buildInBackground } from "../kernel/process/build-in-background.ts";
import { createDataDirectory, makePrivate } from "../kernel/process/data-directory.ts";
import { V8_FLAGS } from "../kernel/process/v8-flags.ts";
import { STAGE, VERSION } from "../kernel/version.ts";
import { run } from "../main.ts";
import { createModelStore } from "../model-store/create-model-store.ts";
import { openLog } from "../observability/open-log.ts";
import { openLogExport } from "../observability/open-telemetry.ts";
import { configSources, configurationSources } from "./config-sources.ts";
import { createProgress } from "./progress.ts";
import { welcome } from "./welcome.ts";

/** The same from `src` and from `dist`. */
const CONSOLE_PAGE = join(import.meta.dirname, "../../console/dist/index.html");
/** A process finds out whether a build is outdated; models load first. */
const REBUILD_DELAY_MS = 20_000;

/** Resolves with the exit code; throws a Fault. `onReady` is called once the models are up or have failed. */
export async function serve(
  environment: NodeJS.ProcessEnv,
  onReady?: (keys: BootstrapKeys) => Promise<void>,
): Promise<number> {
  for (const flag of V8_FLAGS) setFlagsFromString(flag);
  const sources = { ...configSources(), environment };
  const config = await loadConfig(sources);
  await using exported = await openLogExport(config.openTelemetry);
  const logger = openLog(config.logLevel, exported);
  createDataDirectory(config.dataDirectory);
  // The driver compiles kernels for minutes, and a container keeps no other folder.
  process.env.CUDA_CACHE_PATH ??= join(config.dataDirectory, "gpu-kernels");
  makePrivate(config.dataDirectory, logger);
  for (const warning of config.warnings) logger.warn(warning);
  process.stdout.write(`Parlance ${VERSION} (${STAGE})\n`);
  const progress = await createProgress(process.stdout);
  return await run({
    config,
    logger,
    store: createModelStore(config, logger),
    onPullProgress: (event) => progress.update(event),
    sources: configurationSources(sources),
    onListening: (listening) => {
      // Not at exit, since services are often killed.
      flushCompileCache();
      if (config.server.console) prepareConsole(logger);
      return welcome(listening, config, progress, onReady);
    },
  });
}

function prepareConsole(logger: Logger): void {
  const build = () => buildInBackground(logger, { script: "build-console.mjs", subject: "the console" });
  if (existsSync(CONSOLE_PAGE)) setTimeout(build, REBUILD_DELAY_MS).unref();
  else build();
}
