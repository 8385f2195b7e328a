/** Keeps the indexes of searched stores current: loads what was added, removes what was deleted, unloads unused ones. */

import { setImmediate as nextTurn } from "node:timers/promises";
import type { Database } from "../../storage/database.ts";
import type { Attributes } from "../../wire/openai/attribute-filters.ts";
import type { IndexMatch, IndexQuery } from "./index/store-index.ts";
import { VectorIndex } from "./index/vector-index.ts";
import { listCompletedFiles, readVectors } from "./store-file-queries.ts";
import type { StoredSegments } from "./stored-segments.ts";
import type { VectorStoreRow } from "./vector-store-rows.ts";

export interface SearchableStoresOptions {
  database: Database;
  segments: StoredSegments;
  /** Maximum bytes of all indexes; the one that is searched may exceed it alone. */
  indexMemory: number;
}

interface LoadedStore {
  /** Version of the store that the index shows. */
  version: number;
  /** Attributes by addition, as they were loaded. */
  additions: Map<string, string | null>;
  memoryBytes: number;
  loading: Promise<void> | undefined;
}

/** Segments of about 20 KB that are decrypted between two turns of the event loop. */
const SEGMENTS_AT_ONCE = 16;

export class SearchableStores implements AsyncDisposable {
  readonly #options: SearchableStoresOptions;
  readonly #index: VectorIndex;
  /** The least recently searched first. */
  readonly #loaded = new Map<string, LoadedStore>();
  #isClosed = false;

  constructor(options: SearchableStoresOptions) {
    this.#options = options;
    this.#index = new VectorIndex(() => this.#loaded.clear());
  }

  /** Searches a store as it is now. */
  async search(store: VectorStoreRow, query: IndexQuery): Promise<readonly IndexMatch[]> {
    const loaded = await this.#ensureCurrent(store);
    const { matches, memoryBytes, isSparse } = await this.#index.search(store.id, query);
    loaded.memoryBytes = memoryBytes;
    if (isSparse && this.#loaded.get(store.id) === loaded) this.#unload(store.id);
    this.#unloadUnused(store.id);
    return matches;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await this.#index[Symbol.asyncDispose]();
  }

  async #ensureCurrent({ id, version }: VectorStoreRow): Promise<LoadedStore> {
    const loaded = this.#loaded.get(id) ?? { version: -1, additions: new Map(), memoryBytes: 0, loading: undefined };
    this.#loaded.delete(id);
    this.#loaded.set(id, loaded);
    while (loaded.version < version) {
      loaded.loading ??= this.#load(id, version, loaded).finally(() => {
        loaded.loading = undefined;
      });
      await loaded.loading;
    }
    return loaded;
  }

  async #load(id: string, version: number, loaded: LoadedStore): Promise<void> {
    const { database } = this.#options;
    const files = await database.run((executor) => listCompletedFiles(executor, id));
    const current = new Set(files.map(({ additionId }) => additionId));
    for (const addition of loaded.additions.keys()) {
      if (current.has(addition)) continue;
      this.#index.send({ type: "remove", store: id, addition });
      loaded.additions.delete(addition);
    }
    for (const { additionId: addition, attributes } of files) {
      const isNew = !loaded.additions.has(addition);
      if (isNew) await this.#loadFile(id, addition);
      if (isNew || loaded.additions.get(addition) !== attributes) {
        const values: Attributes = attributes === null ? {} : JSON.parse(attributes);
        this.#index.send({ type: "attributes", store: id, addition, attributes: values });
      }
      loaded.additions.set(addition, attributes);
    }
    loaded.version = version;
  }

  async #loadFile(store: string, addition: string): Promise<void> {
    const { database, segments } = this.#options;
    for (let from = 0; !this.#isClosed; ) {
      const rows = await database.run((executor) => readVectors(executor, addition, from, SEGMENTS_AT_ONCE));
      for (const row of rows) {
        const bytes = segments.openVectors(addition, row);
        this.#index.send({ type: "add", store, addition, position: row.position, bytes });
      }
      if (rows.length < SEGMENTS_AT_ONCE) return;
      from = (rows.at(-1)?.position ?? 0) + 1;
      await nextTurn();
    }
  }

  #unloadUnused(searched: string): void {
    let total = 0;
    for (const { memoryBytes } of this.#loaded.values()) total += memoryBytes;
    for (const [id, { memoryBytes, loading }] of this.#loaded) {
      if (total <= this.#options.indexMemory) return;
      if (id === searched || loading !== undefined) continue;
      this.#unload(id);
      total -= memoryBytes;
    }
  }

  #unload(id: string): void {
    this.#loaded.delete(id);
    this.#index.send({ type: "drop", store: id });
  }
}
