import type { Catalog } from "../../catalog/catalog.ts";
import type { Feature } from "../../http/feature.ts";
import { AnswerCache } from "../../inference/cache/answer-cache.ts";
import { Fault } from "../../kernel/faults.ts";
import type { Logger } from "../../kernel/logger.ts";
import type { Settings } from "../../kernel/settings/settings.ts";
import type { Metrics } from "../../observability/metrics.ts";
import { openContentKeys } from "../../storage/content-keys.ts";
import type { Database } from "../../storage/database.ts";
import type { Accounts } from "../accounts/index.ts";
import { BoundedCacheStore } from "./bounded-cache-store.ts";
import type { CacheBackend } from "./cache-backend.ts";
import type { CacheStorage } from "./cache-storage.ts";
import { CacheUpkeep } from "./cache-upkeep.ts";
import { DatabaseCacheStore } from "./database-cache-store.ts";
import { MemoryCacheStore } from "./memory-cache-store.ts";
import { cacheMetrics } from "./metrics.ts";
import { cacheRoutes } from "./routes.ts";
import { sealed } from "./sealed-cache-store.ts";

interface CacheParts {
  config: Settings;
  database: Database;
  logger: Logger;
}

interface CacheParts {
  config: Settings;
  database: Database;
  logger: Logger;
  lifetime: AsyncDisposableStack;
  catalog: Catalog;
  metrics: Metrics;
}

/** Opens the store of cached answers. Throws a Fault for a store whose address or key is not set. */
export async function openCache(parts: CacheParts): Promise<CacheStorage> {
  const { config, database, logger, lifetime, catalog, metrics } = parts;
  const backend = await openBackend(parts);
  lifetime.defer(() => backend.close());
  lifetime.use(new CacheUpkeep({ backend, catalog, database, logger }));
  const store = new BoundedCacheStore(backend, logger);
  const answers = new AnswerCache({
    store,
    maxAnswerBytes: config.cache.maxAnswerSize,
    onOutcome: cacheMetrics(metrics.registry, () => store.size()),
  });
  return { answers, store };
}

/** Administration of cached answers. */
export function cacheFeature({ accounts, cache }: { accounts: Accounts; cache: CacheStorage }): Feature {
  return { admin: [cacheRoutes(accounts, cache.store)] };
}

async function openBackend({ config, database, logger }: CacheParts): Promise<CacheBackend> {
  const { store, maxSize } = config.cache;
  if (store === "memory") return new MemoryCacheStore(maxSize);
  const { REDIS_URL: redis } = config.environment;
  const keyring = openContentKeys({ config, database, logger }, "cached answers");
  if (keyring === undefined) throw missing(store, "a key to encrypt answers: set PARLANCE_ENCRYPTION_KEY");
  if (store === "database") return sealed(new DatabaseCacheStore(database, maxSize), keyring);
  if (redis === undefined) throw missing(store, "the address of Redis: set REDIS_URL");
  // The client of Redis has hundreds of modules.
  const { RedisCacheStore } = await import("./redis-cache-store.ts");
  return sealed(new RedisCacheStore(redis, maxSize), keyring);
}

function missing(store: string, what: string): Fault {
  return new Fault("invalid-request", `\`cache.store: ${store}\` needs ${what}, or use \`memory\`.`);
}
