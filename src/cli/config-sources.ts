import type { ConfigSources } from "../config/load-config.ts";
import { ENGINES } from "../engines/registry.ts";
import { BUNDLED_MODELS } from "../models/bundled-models.ts";
import { MANIFEST } from "../models/manifest.ts";

/** The configuration of the process that runs: its environment, its working directory, every engine and built-in model. */
export function configSources(): ConfigSources {
  return {
    environment: process.env,
    workingDirectory: process.cwd(),
    deploymentSchemas: Object.fromEntries(Object.entries(ENGINES).map(([kind, { settings }]) => [kind, settings])),
    wildcardEngines: Object.values(ENGINES)
      .filter((engine) => engine.takesWildcards === true)
      .map(({ name }) => name),
    builtinModels: [...MANIFEST, ...BUNDLED_MODELS],
  };
}
