import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openApp } from "../../src/app/app.ts";
import { configSources, configurationSources } from "../../src/cli/config-sources.ts";
import { loadConfig } from "../../src/config/load-config.ts";
import { createLogger } from "../../src/kernel/logger.ts";
import { createModelStore } from "../../src/model-store/create-model-store.ts";
import type { RegisteredOperation } from "../../src/wire/openapi/operation.ts";

/** Operations of a service with every optional API, in the order of their registration. */
export async function listOperations(): Promise<readonly RegisteredOperation[]> {
  const directory = await mkdtemp(join(tmpdir(), "parlance-operations-"));
  await using lifetime = new AsyncDisposableStack();
  lifetime.defer(() => rm(directory, { recursive: true }));
  const file = join(directory, "parlance.yaml");
  await writeFile(
    file,
    "ollama: { enabled: true }\ncode_interpreter: { sandbox: process }\nmcp_servers: [{ name: example, url: http://127.0.0.1/mcp, oauth: {} }]\n",
  );
  const environment = { PARLANCE_CONFIG: file, PARLANCE_DATA_DIR: directory };
  const config = await loadConfig({ ...configSources(), environment });
  const logger = createLogger("silent");
  const store = createModelStore(config, logger);
  const { server } = await openApp(
    { config, logger, store, onPullProgress: () => {}, sources: configurationSources(configSources()) },
    lifetime,
  );
  await server.app.ready();
  return server.operations;
}
