import type { ConfigSources } from "../config/load-config.ts";
import { ENGINES } from "../engines/registry.ts";
import { BUNDLED_MODELS } from "../models/bundled-models.ts";
import { MANIFEST } from "../models/manifest.ts";

/** Configuration sources of this process: environment, working directory, all engines and built-in models. */
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
