import type { ConfigSources } from "../config/load-config.ts";
import { reloadConfig, withLayer } from "../config/reload-config.ts";
import type { Engine } from "../engines/define-engine.ts";
import { ENGINES } from "../engines/registry.ts";
import type { ConfigurationSources } from "../features/configuration/live-configuration.ts";
import { BUNDLED_MODELS } from "../model-store/manifest/bundled-models.ts";
import { MANIFEST } from "../model-store/manifest/manifest.ts";

/** Configuration sources of this process: environment, working directory, all engines and built-in models. */
export function configSources(): ConfigSources {
  return {
    environment: process.env,
    workingDirectory: process.cwd(),
    deploymentSchemas: Object.fromEntries(Object.entries(ENGINES).map(([kind, { settings }]) => [kind, settings])),
    builtinModels: [...MANIFEST, ...BUNDLED_MODELS],
    manifestIds: MANIFEST.map(({ id }) => id),
    engines: Object.fromEntries(
      Object.values<Engine<string, never>>(ENGINES as never).map((engine) => [
        engine.name,
        {
          tasks: engine.tasks,
          takesWildcards: engine.takesWildcards === true,
          pullsModels: engine.isUpstream !== true && engine.isForTests !== true,
        },
      ]),
    ),
  };
}

/** What a running service builds its later configurations from. */
export function configurationSources(sources: ConfigSources): ConfigurationSources {
  return {
    reload: (current, layer) => reloadConfig(current, sources, layer),
    withLayer: (current, layer) => withLayer(current, sources, layer),
  };
}
