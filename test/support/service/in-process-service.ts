/** The composed service in this process: most requests are injected, which is faster than a socket. */

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { configSources } from "../../../src/cli/config-sources.ts";
import { compose, type Service } from "../../../src/compose.ts";
import { loadConfig } from "../../../src/config/load-config.ts";
import { createModelStore } from "../../../src/model-store/create-model-store.ts";
import { createLogger } from "../../../src/observability/logger.ts";

export interface InProcessService {
  inject: Service["server"]["app"]["inject"];
  /** For requests whose handlers need a socket, such as uploads. */
  origin: string;
  apiKey: string;
  adminKey: string;
  close(): Promise<void>;
}

async function untilLoaded({ readiness }: Service): Promise<void> {
  while ((await readiness()).models.some(({ state }) => state === "loading")) await pause(50);
}

/** `config`: the text of parlance.yaml. Resolves once its models are loaded. */
export async function startInProcess(config: string): Promise<InProcessService> {
  const directory = await mkdtemp(join(tmpdir(), "parlance-in-process-"));
  await writeFile(join(directory, "parlance.yaml"), config);
  const environment = {
    PARLANCE_DATA_DIR: directory,
    PARLANCE_CONFIG: join(directory, "parlance.yaml"),
    PARLANCE_API_KEY: `sk-test-${"a".repeat(32)}`,
    PARLANCE_ADMIN_KEY: `sk-admin-test-${"b".repeat(32)}`,
  };
  const loaded = await loadConfig({ ...configSources(), environment });
  const logger = createLogger("silent");
  const service = await compose({
    config: loaded,
    logger,
    store: createModelStore(loaded, logger),
    onPullProgress: () => {},
  });
  await service.apply(loaded);
  await untilLoaded(service);
  const { PARLANCE_API_KEY: apiKey, PARLANCE_ADMIN_KEY: adminKey } = loaded.environment;
  await service.accounts.ensureBootstrapKeys({ apiKey, adminKey, anonymousProject: loaded.ollama.anonymousProject });
  const origin = await service.server.app.listen({ host: "127.0.0.1", port: 0 });
  return {
    origin,
    inject: service.server.app.inject.bind(service.server.app),
    apiKey: environment.PARLANCE_API_KEY,
    adminKey: environment.PARLANCE_ADMIN_KEY,
    close: async () => {
      await service.server.app.close();
      await service.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
