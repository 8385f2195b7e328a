import type { StoreFiles } from "./store-files.ts";
import type { StoreSearch } from "./store-search.ts";
import type { VectorStores } from "./vector-stores.ts";

/** Vector stores, as their routes and tools use them. */
export interface VectorStoreParts {
  stores: VectorStores;
  files: StoreFiles;
  search: StoreSearch;
  /** Model of new stores; undefined: the first that the caller may use. */
  embeddingModel: string | undefined;
}
