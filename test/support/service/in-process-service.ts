/** The service in this process: most requests are injected, which is faster than a socket. */

import "./check-answers.ts";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn, setTimeout as pause } from "node:timers/promises";
import type { LightMyRequestResponse as InjectedAnswer, InjectOptions } from "fastify";
import { type App, openApp } from "../../../src/app/app.ts";
import { configSources, configurationSources } from "../../../src/cli/config-sources.ts";
import { loadConfig } from "../../../src/config/load-config.ts";
import { createLogger } from "../../../src/kernel/logger.ts";
import { createModelStore } from "../../../src/model-store/create-model-store.ts";
import { copyMigratedFile } from "../databases/migrated-file.ts";
import { clientOf, type ServiceClient } from "./service.ts";
import { detectStalls } from "./stall-detector.ts";
import { addStall, STALL_LIMIT_MS } from "./stalls.ts";

export interface InProcessService extends ServiceClient {
  inject(request: InjectOptions): Promise<InjectedAnswer>;
  accounts: App["accounts"];
  operations: App["server"]["operations"];
  /** Tools that the service runs within responses; tests register theirs. */
  tools: App["tools"];
  close(): Promise<void>;
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

/** `config`: the text of parlance.yaml. Resolves once its models are loaded. */
export async function startInProcess(
  config: string,
  variables: Readonly<Record<string, string>> = {},
): Promise<InProcessService> {
  const directory = await mkdtemp(join(tmpdir(), "parlance-in-process-"));
  copyMigratedFile(join(directory, "parlance.sqlite"));
  // Built-in models take ten seconds of CPU time to load.
  const models = /^builtin_models:/m.test(config) ? "" : "builtin_models: false\n";
  await writeFile(join(directory, "parlance.yaml"), `${models}${config}`);
  const environment = {
    PARLANCE_DATA_DIR: directory,
    PARLANCE_CONFIG: join(directory, "parlance.yaml"),
    // Lines of requests would be printed among those of the tests.
    PARLANCE_LOG_LEVEL: "fatal",
    PARLANCE_API_KEY: `sk-test-${"a".repeat(32)}`,
    PARLANCE_ADMIN_KEY: `sk-admin-test-${"b".repeat(32)}`,
    ...variables,
  };
  const sources = { ...configSources(), environment };
  const loaded = await loadConfig(sources);
  const logger = createLogger("silent");
  const lifetime = new AsyncDisposableStack();
  const store = createModelStore(loaded, logger);
  const app = await openApp(
    { config: loaded, logger, store, onPullProgress: () => {}, sources: configurationSources(sources) },
    lifetime,
  );
  await app.configuration.open();
  await untilLoaded(app);
  const { PARLANCE_API_KEY: apiKey, PARLANCE_ADMIN_KEY: adminKey } = loaded.environment;
  await app.accounts.ensureBootstrapKeys({ apiKey, adminKey, anonymousProject: loaded.ollama.anonymousProject });
  const origin = await app.server.app.listen({ host: "127.0.0.1", port: 0 });
  const detector = STALL_LIMIT_MS === undefined ? undefined : detectStalls(STALL_LIMIT_MS, addStall);
  return {
    ...clientOf({ origin, apiKey: environment.PARLANCE_API_KEY, adminKey: environment.PARLANCE_ADMIN_KEY }),
    inject: inTurns((request) => app.server.app.inject(request)),
    accounts: app.accounts,
    operations: app.server.operations,
    tools: app.tools,
    close: async () => {
      await detector?.stop();
      await lifetime.disposeAsync();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
