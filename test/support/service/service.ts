/** The service in this process, which starts in a tenth of the time that a process of its own takes. */

import "./check-answers.ts";
import { rm } from "node:fs/promises";
import { setImmediate as nextTurn, setTimeout as pause } from "node:timers/promises";
import type { LightMyRequestResponse as InjectedAnswer, InjectOptions } from "fastify";
import { type App, openApp } from "../../../src/app/app.ts";
import { configSources, configurationSources } from "../../../src/cli/config-sources.ts";
import { type ConfigSources, loadConfig } from "../../../src/config/load-config.ts";
import { createLogger } from "../../../src/kernel/logger.ts";
import { createModelStore } from "../../../src/model-store/create-model-store.ts";
import { drain } from "../../../src/serving/drain.ts";
import { prepareService, type ServiceOptions } from "./prepare-service.ts";
import { clientOf, parseLog, type Service } from "./service-client.ts";
import { detectStalls } from "./stall-detector.ts";
import { addStall, STALL_LIMIT_MS } from "./stalls.ts";

export type { Service, ServiceClient } from "./service-client.ts";
export type { ServiceOptions };

export interface InProcessService extends Service {
  inject(request: InjectOptions): Promise<InjectedAnswer>;
  accounts: App["accounts"];
  operations: App["server"]["operations"];
  /** Tools that the service runs within responses; tests register theirs. */
  tools: App["tools"];
  /** What running requests occupy. */
  bodyMemory: App["bodyMemory"];
  stop(): Promise<void>;
}

/** Services of this process. */
let running = 0;
let isDetecting = false;

/** One thread watches all services of this process, until it ends. */
function detectStallsOfServices(): void {
  if (isDetecting || STALL_LIMIT_MS === undefined) return;
  isDetecting = true;
  detectStalls(STALL_LIMIT_MS, (stall) => {
    if (running > 0) addStall(stall);
  });
}

async function untilLoaded({ readiness }: App): Promise<void> {
  while ((await readiness()).models.some(({ state }) => state === "loading")) await pause(50);
}

/** Begins each request in another turn of the event loop, as requests of sockets do. SQLite answers without one. */
function inTurns(inject: InProcessService["inject"]): InProcessService["inject"] {
  let last = Promise.resolve();
  return async (request) => {
    last = last.then(() => nextTurn());
    await last;
    return inject(request);
  };
}

/**
 * Resolves once its models are loaded; stop it with `afterAll(() => service.stop())`. Serves no built-in models unless the
 * configuration says `builtin_models: true`: they take ten seconds of CPU time to load.
 */
export async function startService(options: ServiceOptions = {}): Promise<InProcessService> {
  const { config: text = "" } = options;
  const config = text.includes("builtin_models") ? text : `builtin_models: false\n${text}`;
  const { dataDirectory, configFile, environment } = await prepareService({ ...options, config }, true);
  const lifetime = new AsyncDisposableStack();
  lifetime.defer(() => rm(dataDirectory, { recursive: true, force: true }));
  try {
    const sources = { ...configSources(), environment };
    const lines: string[] = [];
    const started = await open(sources, (line) => void lines.push(line), lifetime);
    detectStallsOfServices();
    running += 1;
    const { app, origin } = started;
    return {
      ...clientOf({
        origin,
        apiKey: environment.PARLANCE_API_KEY ?? "",
        adminKey: environment.PARLANCE_ADMIN_KEY ?? "",
      }),
      dataDirectory,
      configFile,
      output: () => lines.join(""),
      log: () => parseLog(lines),
      inject: inTurns((request) => app.server.app.inject(request)),
      accounts: app.accounts,
      operations: app.server.operations,
      tools: app.tools,
      bodyMemory: app.bodyMemory,
      stop: async () => {
        running -= 1;
        await drain(app, started.config.server.drainSeconds);
        await lifetime.disposeAsync();
      },
    };
  } catch (failure) {
    await lifetime.disposeAsync();
    throw failure;
  }
}

/** Opens the service as `parlance serve` does, and listens. */
async function open(sources: ConfigSources, write: (line: string) => void, lifetime: AsyncDisposableStack) {
  const config = await loadConfig(sources);
  const logger = createLogger(config.logLevel, { write });
  const store = createModelStore(config, logger);
  const app = await openApp(
    { config, logger, store, onPullProgress: () => {}, sources: configurationSources(sources) },
    lifetime,
  );
  await app.configuration.open();
  const { PARLANCE_API_KEY: apiKey, PARLANCE_ADMIN_KEY: adminKey } = config.environment;
  await app.accounts.ensureBootstrapKeys({ apiKey, adminKey, anonymousProject: config.ollama.anonymousProject });
  const origin = await app.server.app.listen({ host: "127.0.0.1", port: 0 });
  app.start();
  await untilLoaded(app);
  return { app, config, origin };
}
