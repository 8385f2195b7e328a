import type { LiveCatalog } from "../../catalog/live-catalog.ts";
import type { Feature } from "../../http/feature.ts";
import type { Inference } from "../../inference/inference.ts";
import type { Logger } from "../../kernel/logger.ts";
import type { Settings } from "../../kernel/settings/settings.ts";
import { openContentKeys } from "../../storage/content-keys.ts";
import type { Database } from "../../storage/database.ts";
import type { Accounts } from "../accounts/index.ts";
import type { FileStorage } from "../files/index.ts";
import type { ServiceTools } from "../tools/index.ts";
import { fileBatches } from "./file-batch-routes.ts";
import { fileSearchTool } from "./file-search-tool.ts";
import { startIngest } from "./ingest.ts";
import { SearchableStores } from "./searchable-stores.ts";
import { startStorageMeter } from "./storage-meter.ts";
import { storeFiles } from "./store-file-routes.ts";
import { StoreFiles } from "./store-files.ts";
import { StoreSearch } from "./store-search.ts";
import { StoredSegments } from "./stored-segments.ts";
import type { VectorStoreParts } from "./vector-store-parts.ts";
import { vectorStoreRetention } from "./vector-store-retention.ts";
import { vectorStores } from "./vector-store-routes.ts";
import { VectorStores } from "./vector-stores.ts";

interface VectorStoreFeatureParts {
  config: Settings;
  database: Database;
  logger: Logger;
  lifetime: AsyncDisposableStack;
  inference: Inference;
  accounts: Accounts;
  tools: ServiceTools;
  files: FileStorage;
  live: LiveCatalog;
}

/** Vector stores, where there is a key to encrypt their content. */
export function openVectorStores(parts: VectorStoreFeatureParts): Feature {
  const { config, database, logger, lifetime, inference, accounts, tools } = parts;
  const { files, documents } = parts.files;
  const keyring = openContentKeys(parts, "vector stores");
  if (keyring === undefined) return {};
  const { embeddingModel, reranker, queryRewriter, concurrentFiles: concurrency, ...settings } = config.vectorStores;
  const segments = new StoredSegments(keyring);
  const stores = new VectorStores(database);
  const searchable = new SearchableStores({ database, segments, indexMemory: settings.indexMemory });
  lifetime.use(searchable);
  lifetime.use(vectorStoreRetention({ database, logger }));
  let ingest: ReturnType<typeof startIngest> | undefined;
  lifetime.defer(() => ingest?.close());
  let meter: ReturnType<typeof startStorageMeter> | undefined;
  lifetime.defer(() => meter?.close());
  const prices = () => (parts.live.config ?? config).prices;
  const storeFilesOfProjects = new StoreFiles({ database, files, segments, onAdded: () => ingest?.wake() });
  files.onDeleted((resource) => storeFilesOfProjects.removeEverywhere(resource));
  const price = () => prices().vectorStores.search;
  const search = new StoreSearch({ database, inference, stores, searchable, segments, reranker, queryRewriter, price });
  const storeParts: VectorStoreParts = { stores, files: storeFilesOfProjects, search, embeddingModel };
  tools.register(fileSearchTool(storeParts));
  const callerOf = (keyId: string) => accounts.callerOfKey(keyId, "batch");
  const ingestOptions = {
    ...{ database, logger, files, segments, inference, callerOf, concurrency, documents },
    ...settings,
  };
  return {
    project: [vectorStores(inference, storeParts), storeFiles(storeParts), fileBatches(storeParts)],
    start: () => {
      ingest = startIngest(ingestOptions);
      meter = startStorageMeter({
        ...{ database, logger, inference, accounts },
        pricePerGigabyteDay: () => prices().vectorStores.gigabyte_day,
        factorsOf: (projectId) => {
          const factor = prices().projectFactors[projectId];
          return factor === undefined ? [] : [factor];
        },
      });
    },
    drain: () => ingest?.drain(),
  };
}
