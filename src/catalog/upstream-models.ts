/** Lists the models of the upstreams behind wildcards in the background and caches them. */

import type { Deployment } from "../deployments/deployment.ts";
import { MINUTE_MS } from "../kernel/durations.ts";
import { Poll } from "../kernel/jobs/poll.ts";
import type { CatalogModel } from "./catalog.ts";
import { isWildcard } from "./catalog.ts";

const REFRESH_MS = 5 * MINUTE_MS;
const PATIENCE_MS = 10_000;

export interface UpstreamModel {
  /** The wildcard's prefix and the upstream's ID. */
  id: string;
  /** Time at which it first appeared, epoch milliseconds. */
  createdAt: number;
  wildcard: CatalogModel;
}

export interface UpstreamModelsOptions {
  /** Returns the time at which each ID first appeared, and stores new IDs. */
  see: (ids: string[]) => Promise<ReadonlyMap<string, number>>;
  onFailure: (deployment: string, failure: unknown) => void;
}

export class UpstreamModels {
  readonly #options: UpstreamModelsOptions;
  readonly #byWildcard = new Map<string, UpstreamModel[]>();
  /** Names that each deployment listed last. */
  readonly #lists = new WeakMap<Deployment, readonly string[]>();
  #wildcards: readonly CatalogModel[] = [];
  #poll: Poll | undefined;
  #stop = new AbortController();

  constructor(options: UpstreamModelsOptions) {
    this.#options = options;
  }

  /** The cached models: an upstream that does not answer never delays a listing. */
  under(wildcard: CatalogModel): readonly UpstreamModel[] {
    return this.#byWildcard.get(wildcard.id) ?? [];
  }

  /** Lists the models of these wildcards now and every few minutes, and stops for all others. */
  watch(models: Iterable<CatalogModel>): void {
    this.stop();
    this.#stop = new AbortController();
    this.#wildcards = [...models].filter(isWildcard);
    const ids = new Set(this.#wildcards.map(({ id }) => id));
    for (const id of this.#byWildcard.keys()) if (!ids.has(id)) this.#byWildcard.delete(id);
    if (this.#wildcards.length === 0) return;
    const { signal } = this.#stop;
    const refresh = () => Promise.all(this.#wildcards.map((each) => this.#ask(each, each.deployments, signal)));
    this.#poll = new Poll(refresh, { everyMs: REFRESH_MS });
    void this.#poll.run();
  }

  /** Lists the models of endpoints that joined a pool, and forgets those of endpoints that left. */
  update(models: Iterable<CatalogModel>): void {
    this.#wildcards = [...models].filter(isWildcard);
    for (const wildcard of this.#wildcards) {
      const joined = wildcard.deployments.filter((each) => !this.#lists.has(each));
      void this.#ask(wildcard, joined, this.#stop.signal);
    }
  }

  stop(): void {
    this.#poll?.stop();
    this.#stop.abort();
  }

  async #ask(wildcard: CatalogModel, deployments: readonly Deployment[], stop: AbortSignal): Promise<void> {
    await Promise.all(deployments.map((deployment) => this.#listOne(deployment, stop)));
    if (!stop.aborted) await this.#merge(this.#wildcards.find(({ id }) => id === wildcard.id) ?? wildcard, stop);
  }

  async #listOne(deployment: Deployment, stop: AbortSignal): Promise<void> {
    try {
      const signal = AbortSignal.any([stop, AbortSignal.timeout(PATIENCE_MS)]);
      const opened = await deployment.opened(signal);
      this.#lists.set(deployment, (await opened.listModels?.(signal)) ?? []);
    } catch (failure) {
      if (!stop.aborted) this.#options.onFailure(deployment.name, failure);
    }
  }

  /** Merges the lists of all deployments of a wildcard; one that failed keeps its previous list. */
  async #merge(wildcard: CatalogModel, stop: AbortSignal): Promise<void> {
    const prefix = wildcard.id.slice(0, -1);
    const lists = wildcard.deployments.map((deployment) => this.#lists.get(deployment));
    const upstreamIds = new Set(lists.flatMap((names = []) => names.map((name) => prefix + name)));
    if (lists.includes(undefined)) for (const { id } of this.under(wildcard)) upstreamIds.add(id);
    const ids = [...upstreamIds].sort();
    const firstSeen = await this.#options.see(ids).catch(() => this.#seenBefore(wildcard));
    if (stop.aborted) return;
    const listed = ids.map((id) => ({ id, createdAt: firstSeen.get(id) ?? Date.now(), wildcard }));
    this.#byWildcard.set(wildcard.id, listed);
  }

  /** Known times, for use while the database is unavailable: other IDs get the current time. */
  #seenBefore(wildcard: CatalogModel): ReadonlyMap<string, number> {
    return new Map(this.under(wildcard).map(({ id, createdAt }) => [id, createdAt]));
  }
}
