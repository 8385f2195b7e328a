/** Removes answers that have expired, of archived projects and organizations, and of models that changed or left. */

import type { Catalog } from "../../catalog/catalog.ts";
import { MINUTE_MS } from "../../kernel/durations.ts";
import { Retention } from "../../kernel/jobs/retention.ts";
import type { Logger } from "../../kernel/logger.ts";
import type { Database } from "../../storage/database.ts";
import type { CacheBackend } from "./cache-backend.ts";
import { listArchivedSince } from "./cached-answer-queries.ts";

export interface CacheUpkeepOptions {
  backend: CacheBackend;
  catalog: Catalog;
  database: Database;
  logger: Logger;
  intervalMs?: number;
}

/** Clocks of replicas differ by less. */
const OVERLAP_MS = 5 * MINUTE_MS;

export class CacheUpkeep {
  readonly #options: CacheUpkeepOptions;
  readonly #retention: Retention;
  /** Time of the last look for archived projects; undefined before the first, which considers all. */
  #lookedAt: number | undefined;
  /** `ModelCache.version` by catalog entry. */
  #versions: ReadonlyMap<string, string>;

  constructor(options: CacheUpkeepOptions) {
    this.#options = options;
    this.#versions = versionsIn(options.catalog);
    this.#retention = new Retention({
      subject: "cached answers",
      logger: options.logger,
      intervalMs: options.intervalMs ?? MINUTE_MS,
      steps: [(now) => this.#removeOfArchived(now), () => this.#removeOfModels(), (now) => this.#removeExpired(now)],
    });
  }

  /** Does not throw. */
  run(): Promise<void> {
    return this.#retention.removeExpired();
  }

  [Symbol.dispose](): void {
    this.#retention[Symbol.dispose]();
  }

  async #removeOfArchived(now: number): Promise<number> {
    const { database, backend } = this.#options;
    const since = this.#lookedAt === undefined ? 0 : this.#lookedAt - OVERLAP_MS;
    for (const id of await database.run((executor) => listArchivedSince(executor, since))) {
      await backend.purge({ scopeId: id });
      await backend.purge({ organizationId: id });
    }
    this.#lookedAt = now;
    return 0;
  }

  async #removeOfModels(): Promise<number> {
    const versions = versionsIn(this.#options.catalog);
    for (const [model, version] of this.#versions) {
      if (versions.get(model) !== version) await this.#options.backend.purge({ model });
    }
    this.#versions = versions;
    return 0;
  }

  async #removeExpired(now: number): Promise<number> {
    await this.#options.backend.removeExpired(now);
    return 0;
  }
}

function versionsIn({ models }: Catalog): ReadonlyMap<string, string> {
  return new Map([...models].flatMap(({ id, cache }) => (cache === undefined ? [] : [[id, cache.version]])));
}
