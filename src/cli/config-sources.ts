import { existsSync } from "node:fs";
import { join } from "node:path";
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
    workingDirectory: serviceFolder(),
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

/**
 * Folder of the configuration and the data: the working directory, or the checkout's where `npm run install-command` put
 * the command on the PATH and the working directory has neither.
 */
export function serviceFolder(): string {
  const folder = process.cwd();
  const { PARLANCE_CHECKOUT: checkout, PARLANCE_CONFIG: file, PARLANCE_DATA_DIR: data } = process.env;
  if (!checkout || file || data) return folder;
  return ["parlance.yaml", ".parlance"].some((name) => existsSync(join(folder, name))) ? folder : checkout;
}

/** What a running service builds its later configurations from. */
export function configurationSources(sources: ConfigSources): ConfigurationSources {
  return {
    reload: (current, layer) => reloadConfig(current, sources, layer),
    withLayer: (current, layer) => withLayer(current, sources, layer),
  };
}
