import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../../test/support/service/temporary-directory.ts";
import { configSources } from "../cli/config-sources.ts";
import { loadConfig } from "../config/load-config.ts";
import { createLogger } from "../kernel/logger.ts";
import type { Settings } from "../kernel/settings/settings.ts";
import { createModelStore } from "../model-store/create-model-store.ts";
import { Catalog } from "./catalog.ts";
import { LiveCatalog, type LiveCatalogOptions } from "./live-catalog.ts";

async function configOf(directory: string, ...ids: string[]): Promise<Settings> {
  const file = join(directory, "parlance.yaml");
  const models = ids.map((id) => `  - { id: ${id}, task: chat, deployments: [{ engine: scripted, echo: true }] }\n`);
  await writeFile(file, `builtin_models: false\nmodels:\n${models.join("")}`);
  const environment = { PARLANCE_DATA_DIR: directory, PARLANCE_CONFIG: file };
  return loadConfig({ ...configSources(), environment });
}

function makeLiveCatalog(config: Settings, see: LiveCatalogOptions["see"]): LiveCatalog {
  const logger = createLogger("silent");
  const store = createModelStore(config, logger);
  return new LiveCatalog({
    catalog: new Catalog(),
    store,
    logger,
    see,
    onPullProgress: () => {},
    onEndpointLeft: () => {},
  });
}

test("keeps a reloaded configuration when a slower refresh with the previous one ends", async () => {
  await using directory = await temporaryDirectory();
  const before = await configOf(directory.path, "before");
  const after = await configOf(directory.path, "after");
  let seen: Promise<void> | undefined;
  const queried = Promise.withResolvers<void>();
  const live = makeLiveCatalog(before, async () => {
    if (seen !== undefined) queried.resolve();
    await seen;
    return new Map();
  });
  await live.apply(before);
  const slow = Promise.withResolvers<void>();
  seen = slow.promise;
  const refreshed = live.refresh();
  await queried.promise;
  seen = undefined;
  const reloaded = live.apply(after);
  // Without a lock, it would end within these turns.
  for (let turn = 0; turn < 100; turn += 1) await nextTurn();
  slow.resolve();
  await Promise.all([refreshed, reloaded]);
  expect([...live.catalog.models].map(({ id }) => id)).toEqual(["after"]);
  await live.close();
});

test("refreshes the configuration in force after another one could not be applied", async () => {
  await using directory = await temporaryDirectory();
  const config = await configOf(directory.path, "one");
  const live = makeLiveCatalog(config, async () => new Map());
  await live.apply(config);
  const [model] = config.models;
  if (model === undefined) throw new Error("The configuration has no model");
  const broken = { ...config, models: [{ ...model, deployments: undefined as never }] };
  await expect(live.apply(broken)).rejects.toThrow();
  await live.refresh();
  expect([...live.catalog.models].map(({ id }) => id)).toEqual(["one"]);
  await live.close();
});

test("opens a model again on a reload when its LoRA adapter has changed", async () => {
  await using directory = await temporaryDirectory();
  const [file, adapter] = [join(directory.path, "model.gguf"), join(directory.path, "adapter.gguf")];
  await writeFile(file, "weights");
  await writeFile(adapter, "adapter");
  const configFile = join(directory.path, "parlance.yaml");
  const deployment = `{ engine: llama-cpp, file: "${file}", lora: [{ file: "${adapter}" }] }`;
  await writeFile(
    configFile,
    `builtin_models: false\nmodels:\n  - { id: tuned, task: chat, deployments: [${deployment}] }\n`,
  );
  const environment = { PARLANCE_DATA_DIR: directory.path, PARLANCE_CONFIG: configFile };
  const config = await loadConfig({ ...configSources(), environment });
  const live = makeLiveCatalog(config, async () => new Map());
  const reload = async () => {
    await live.apply(config);
    return live.catalog.find("tuned")?.model.deployments[0];
  };
  const first = await reload();
  expect(await reload()).toBe(first);
  await writeFile(adapter, "another adapter");
  expect(await reload()).not.toBe(first);
  await live.close();
});
