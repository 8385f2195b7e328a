/** A list of endpoints that follows its source and keeps the last good list while that fails. */

import { Poll } from "../jobs/poll.ts";
import type { Logger } from "../logger.ts";
import { dnsEndpoints } from "./dns-endpoints.ts";
import { type Discover, type Endpoint, type EndpointSource, formatAddress, formatSource } from "./endpoint.ts";
import { fileEndpoints } from "./file-endpoints.ts";

export interface EndpointPoolOptions {
  source: EndpointSource;
  logger: Logger;
  /** Called after the list has changed. */
  onChange: () => void;
  /** Looks the endpoints up. Default: the source's own. */
  discover?: Discover;
}

export interface PoolState {
  /** stale: the last lookup failed and the endpoints found before are in use. empty: there is no endpoint. */
  state: "up" | "stale" | "empty";
  /** Why it is not up. */
  reason: string | undefined;
}

/** Endpoints beyond this number indicate a mistake, such as the wrong name. */
const MAX_ENDPOINTS = 1000;
const MIN_REFRESH_SECONDS = 1;
const RETRY_SECONDS = 5;

export class EndpointPool {
  readonly source: EndpointSource;
  readonly #discover: Discover;
  readonly #logger: Logger;
  readonly #onChange: () => void;
  #endpoints: readonly Endpoint[] = [];
  #failure: string | undefined;
  /** Why the source has no endpoints. */
  #emptiness: string | undefined = "the endpoints have not been looked up yet";
  readonly #poll: Poll;
  #nextSeconds = RETRY_SECONDS;
  #isClosed = false;
  /** Resolves after the first lookup, whatever its result. */
  readonly started: Promise<void>;

  constructor({ source, logger, onChange, discover }: EndpointPoolOptions) {
    this.source = source;
    this.#logger = logger.child({ endpoints: formatSource(source) });
    this.#onChange = onChange;
    this.#discover = discover ?? (source.kind === "dns" ? dnsEndpoints(source) : fileEndpoints(source));
    this.#poll = new Poll(() => this.#refresh(), { everyMs: () => this.#nextSeconds * 1000 });
    this.started = this.#poll.run();
  }

  /** Endpoints in a stable order. */
  get endpoints(): readonly Endpoint[] {
    return this.#endpoints;
  }

  get state(): PoolState {
    if (this.#endpoints.length === 0) return { state: "empty", reason: this.#failure ?? this.#emptiness };
    return this.#failure === undefined ? { state: "up", reason: undefined } : { state: "stale", reason: this.#failure };
  }

  close(): void {
    this.#isClosed = true;
    this.#poll.stop();
  }

  async #refresh(): Promise<void> {
    const { refreshSeconds } = this.source;
    this.#nextSeconds = Math.min(refreshSeconds, RETRY_SECONDS);
    try {
      const { endpoints, ttlSeconds = refreshSeconds, reason } = await this.#discover();
      if (endpoints.length > MAX_ENDPOINTS) {
        throw new Error(`there are ${endpoints.length} endpoints; at most ${MAX_ENDPOINTS} are possible`);
      }
      this.#nextSeconds = Math.min(refreshSeconds, Math.max(MIN_REFRESH_SECONDS, ttlSeconds));
      if (!this.#isClosed) this.#succeed(endpoints, reason);
    } catch (error) {
      if (!this.#isClosed) this.#fail((error as Error).message);
    }
  }

  #succeed(found: readonly Endpoint[], reason: string | undefined): void {
    if (this.#failure !== undefined) this.#logger.info("the endpoints can be looked up again");
    this.#failure = undefined;
    const endpoints = found.toSorted((a, b) => compare(formatAddress(a), formatAddress(b)));
    if (reason !== undefined && reason !== this.#emptiness) this.#logger.warn({ reason }, "a pool has no endpoints");
    this.#emptiness = reason;
    if (JSON.stringify(endpoints) === JSON.stringify(this.#endpoints)) return;
    const [before, after] = [this.#endpoints, endpoints].map((list) => new Set(list.map(formatAddress)));
    const added = [...(after ?? [])].filter((each) => !before?.has(each));
    const removed = [...(before ?? [])].filter((each) => !after?.has(each));
    this.#logger.info({ added, removed, count: endpoints.length }, "the endpoints of a pool changed");
    this.#endpoints = endpoints;
    this.#onChange();
  }

  #fail(reason: string): void {
    if (reason === this.#failure) return;
    this.#failure = reason;
    const endpointCount = this.#endpoints.length;
    this.#logger.warn(
      { reason, kept: endpointCount },
      "cannot look up the endpoints of a pool; the last ones stay in use",
    );
  }
}

function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}
