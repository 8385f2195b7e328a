/** The pools in use, one for each source, whichever deployments share it. */

import { resultWithin } from "../async/timeout.ts";
import type { Logger } from "../logger.ts";
import type { EndpointSource } from "./endpoint.ts";
import { EndpointPool } from "./endpoint-pool.ts";

/** Time for which a start or a reload waits for the endpoints of new pools. */
const FIRST_LOOKUP_MS = 2000;

export class EndpointPools {
  readonly #pools = new Map<string, EndpointPool>();
  readonly #logger: Logger;
  readonly #onChange: () => void;

  constructor(logger: Logger, onChange: () => void) {
    this.#logger = logger;
    this.#onChange = onChange;
  }

  /** Starts the pools of these sources and waits a moment for their first endpoints. */
  async start(sources: readonly EndpointSource[]): Promise<void> {
    const started = sources.map((source) => this.of(source).started);
    if (started.length > 0) await resultWithin(Promise.all(started), FIRST_LOOKUP_MS);
  }

  /** Returns the pool of a source, starting it if necessary. */
  of(source: EndpointSource): EndpointPool {
    const key = keyOf(source);
    const existing = this.#pools.get(key);
    if (existing !== undefined) return existing;
    const pool = new EndpointPool({ source, logger: this.#logger, onChange: this.#onChange });
    this.#pools.set(key, pool);
    return pool;
  }

  /** Closes the pools of all other sources. */
  retain(sources: readonly EndpointSource[]): void {
    const keys = new Set(sources.map(keyOf));
    for (const [key, pool] of this.#pools) {
      if (keys.has(key)) continue;
      pool.close();
      this.#pools.delete(key);
    }
  }

  close(): void {
    for (const pool of this.#pools.values()) pool.close();
  }
}

function keyOf(source: EndpointSource): string {
  return JSON.stringify(source);
}
