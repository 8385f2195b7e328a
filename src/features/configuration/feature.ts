import { join } from "node:path";
import type { Feature } from "../../http/feature.ts";
import { openKeyring } from "../../kernel/encryption/open-keyring.ts";
import type { Logger } from "../../kernel/logger.ts";
import type { Settings } from "../../kernel/settings/settings.ts";
import type { Database } from "../../storage/database.ts";
import type { Accounts } from "../accounts/index.ts";
import { ConfigurationStore } from "./configuration-store.ts";
import { connectionTests } from "./connections/connection-test-routes.ts";
import { ConfigurationEntries, type OpenConfiguration } from "./entries.ts";
import { configurationEntries } from "./entry-routes.ts";
import { LiveConfiguration, type LiveConfigurationOptions } from "./live-configuration.ts";
import { configuration } from "./routes.ts";
import { SealedEntries } from "./sealed-entries.ts";
import { configurationVersions } from "./version-routes.ts";

interface ConfigurationParts {
  config: Settings;
  database: Database;
  logger: Logger;
  lifetime: AsyncDisposableStack;
}

interface OpenConfigurationParts {
  accounts: Accounts;
  config: Settings;
  configuration: OpenConfiguration;
  lifetime: AsyncDisposableStack;
  logger: Logger;
}

/** Opens what applies the file and the entries of the API. */
export function openConfiguration({
  config,
  database,
  logger,
  lifetime,
  ...options
}: ConfigurationParts & Pick<LiveConfigurationOptions, "sources" | "check" | "apply">): OpenConfiguration {
  const { environment, dataDirectory } = config;
  const file = database.kind === "sqlite" ? join(dataDirectory, "encryption.key") : undefined;
  const secrets = environment.PARLANCE_ENCRYPTION_KEY;
  const sealed = new SealedEntries(() => openKeyring({ secrets, file, logger, content: "keys of connections" }));
  const store = new ConfigurationStore(database, sealed);
  const live = new LiveConfiguration({ config, store, logger, ...options });
  lifetime.defer(() => live.close());
  return { live, store, entries: new ConfigurationEntries(live, store) };
}

/** The settings in force, and what administrators change of them. */
export function configurationFeature({
  accounts,
  config,
  configuration: opened,
  lifetime,
  logger,
}: OpenConfigurationParts): Feature {
  const { live, store, entries } = opened;
  const read = () => {
    const { file, effective } = live.current;
    return { file, ...effective.list() };
  };
  return {
    admin: [
      configuration(accounts, read),
      configurationEntries(accounts, entries),
      configurationVersions(accounts, store, entries),
      connectionTests({ accounts, entries, lifetime, ownPorts: () => [config.server.port] }),
    ],
    start: () => {
      // Keys may have been rotated since the last start.
      store.reencrypt().catch((err: unknown) => logger.warn({ err }, "secrets of the configuration not re-encrypted"));
    },
  };
}
