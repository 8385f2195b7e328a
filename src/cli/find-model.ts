import { buildModelSpecs } from "../catalog/model-specs.ts";
import { loadConfig } from "../config/load-config.ts";
import { Fault } from "../kernel/faults.ts";
import { createModelStore } from "../model-store/create-model-store.ts";
import { configSources } from "./config-sources.ts";
import { openLog } from "./open-log.ts";

/** Returns the ID of the configured or built-in model with this ID or alias. Throws a Fault if no model has it. */
export async function findModelId(idOrAlias: string): Promise<string> {
  const config = await loadConfig(configSources());
  const models = await buildModelSpecs(config, createModelStore(config, openLog("warn")));
  const match = models.find(({ id }) => id === idOrAlias) ?? models.find(({ aliases }) => aliases.includes(idOrAlias));
  if (match !== undefined) return match.id;
  throw new Fault(
    "not-found",
    `There is no model \`${idOrAlias}\`. The models are ${models.map(({ id }) => id).join(", ")}.`,
  );
}
