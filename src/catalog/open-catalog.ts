import { join } from "node:path";
import type { Settings } from "../kernel/settings/settings.ts";
import { openContentKeys } from "../storage/content-keys.ts";
import type { Database } from "../storage/database.ts";
import { LiveCatalog, type LiveCatalogOptions } from "./live-catalog.ts";
import { recordFirstSeen } from "./model-first-seen.ts";
import { removeOldStates } from "./old-states.ts";
import { RememberedDescriptions } from "./remembered-descriptions.ts";

export type CatalogOptions = Omit<LiveCatalogOptions, "see" | "remembered" | "promptCache"> & {
  config: Pick<Settings, "dataDirectory" | "environment">;
  database: Database;
  lifetime: AsyncDisposableStack;
};

export function openCatalog({ config, database, lifetime, ...options }: CatalogOptions): LiveCatalog {
  const see = (ids: string[]) => database.run((executor) => recordFirstSeen(executor, ids, Date.now()));
  const file = join(config.dataDirectory, "model-descriptions.json");
  const directory = join(config.dataDirectory, "prompt-cache");
  const promptCache = () => {
    const keys = openContentKeys({ config, database, logger: options.logger }, "evaluated prompts");
    return keys && { directory, key: keys.keyFor("prompt cache") };
  };
  const remembered = new RememberedDescriptions(file, options.logger);
  const live = new LiveCatalog({ ...options, see, remembered, promptCache });
  lifetime.defer(() => live.close());
  lifetime.use(removeOldStates(directory));
  return live;
}
