/** The models: catalog ID to task, deployments, access groups and price. */

import type { ChatDefaults } from "../contracts/chat-model.ts";
import type { Guardrail } from "../contracts/guardrail.ts";
import type { Price } from "../contracts/price.ts";
import type { Task } from "../contracts/task.ts";
import type { Deployment } from "../deployments/deployment.ts";
import type { FallbackOccasion, RoutingPolicy } from "../deployments/routing-options.ts";
import type { EndpointPool } from "../kernel/discovery/endpoint-pool.ts";
import type { MirrorSettings } from "./mirror-settings.ts";
import type { ModelCache } from "./model-cache.ts";

export interface CatalogModel {
  /** As clients write it; a wildcard ends in `/*`. */
  id: string;
  task: Task;
  /** Whether it comes with Parlance, rather than from the operator's configuration. */
  isBuiltin: boolean;
  /** When it was first in the catalog, epoch milliseconds. */
  createdAt: number;
  ownedBy: string;
  license: string | undefined;
  /** Context window of a chat model in the manifest. */
  contextWindow?: number | undefined;
  /** Length of an embedding model's vectors, where it is known before the model is loaded. */
  dimensions?: number | undefined;
  accessGroups: readonly string[];
  /** Other IDs that mean this model wherever an ID is taken. */
  aliases: readonly string[];
  /** Not listed and not found by its ID; answers by its aliases and as a fallback. */
  isHidden: boolean;
  /** Without units: that of the deployment applies. */
  price: Price;
  /** Price of requests in batches; undefined: `price`. */
  batchPrice?: Price | undefined;
  /** Discounts and surcharges by project ID; undefined: none. */
  projectFactors?: Readonly<Record<string, string>> | undefined;
  /** Defaults of chat requests; undefined: the engine's. */
  defaults?: ChatDefaults | undefined;
  /** Undefined: its answers are not cached. */
  cache?: ModelCache | undefined;
  /** Guardrails of all its requests; undefined: none. */
  guardrails?: readonly Guardrail[] | undefined;
  /** Catalog IDs tried, in order, when no deployment can answer. */
  fallbacks: readonly string[];
  /** By fallback, where it is not only for requests that no deployment can answer. */
  fallbackOccasions?: Readonly<Record<string, FallbackOccasion>> | undefined;
  /** Second model that a share of its chats also goes to; undefined: none. */
  mirror?: MirrorSettings | undefined;
  routing: RoutingPolicy;
  /** Deployments of a pool are adjacent and sorted by address. Empty while all pools are. */
  deployments: readonly Deployment[];
  /** Entries that stand for the endpoints of a pool. */
  pools: readonly PoolEntry[];
}

export interface PoolEntry {
  /** `Deployment.pool` of its deployments. */
  name: string;
  engine: string;
  endpoints: Pick<EndpointPool, "endpoints" | "state" | "source">;
}

/** A model and the ID that it answers as: its own, or the requested one under a wildcard. */
export interface ResolvedModel {
  id: string;
  model: CatalogModel;
  /** When a fallback answers; undefined: when no deployment can. */
  occasion?: FallbackOccasion | undefined;
}

export class Catalog {
  #models: ReadonlyMap<string, CatalogModel> = new Map();
  #aliases: ReadonlyMap<string, CatalogModel> = new Map();
  /** Longest prefix first, so that `a/b/*` goes before `a/*`. */
  #wildcards: readonly CatalogModel[] = [];
  /** Prefixes of the aliases that end in `*`, each with its model; the longest first, so that `a-b*` goes before `a*`. */
  #aliasPrefixes: ReadonlyArray<readonly [prefix: string, model: CatalogModel]> = [];

  /** Models in the order of the listing. */
  get models(): Iterable<CatalogModel> {
    return this.#models.values();
  }

  /** Takes effect for the next request; running requests keep their deployments. */
  replace(models: readonly CatalogModel[]): void {
    this.#models = new Map(models.map((model) => [model.id, model]));
    this.#aliases = new Map(models.flatMap((model) => model.aliases.map((alias) => [alias, model] as const)));
    this.#aliasPrefixes = [...this.#aliases]
      .flatMap(([alias, model]) => (alias.endsWith("*") ? [[alias.slice(0, -1), model] as const] : []))
      .sort(([a], [b]) => b.length - a.length);
    this.#wildcards = models.filter(isWildcard).sort((a, b) => b.id.length - a.id.length);
  }

  /**
   * Finds the model with this ID or alias, the wildcard that covers it, or else an alias such as `claude-*`; undefined if
   * no visible model matches.
   */
  find(id: string): ResolvedModel | undefined {
    const entry = this.#models.get(id);
    if (entry !== undefined && !isWildcard(entry)) return entry.isHidden ? undefined : { id, model: entry };
    const aliased = this.#aliases.get(id);
    if (aliased !== undefined) return { id: aliased.id, model: aliased };
    const wildcard = this.#wildcards.find((each) => covers(each.id, id));
    if (wildcard !== undefined) return { id, model: wildcard };
    const prefixed = this.#aliasPrefixes.find(([prefix]) => id.startsWith(prefix))?.[1];
    return prefixed && { id: prefixed.id, model: prefixed };
  }

  /** Like `find`, for IDs that the operator wrote, which may name hidden models. */
  findFallback(id: string): ResolvedModel | undefined {
    const entry = this.#models.get(id);
    return entry?.isHidden === true ? { id, model: entry } : this.find(id);
  }
}

/** Whether the ID ends in `/*`. */
export function isWildcard(model: { id: string }): boolean {
  return model.id.endsWith("/*");
}

/** Valid name of an upstream's model. Every event of a stream and the usage records repeat the caller's ID. */
const OPEN_PART = /^[\x21-\x7e]{1,200}$/;

function covers(wildcardId: string, id: string): boolean {
  const prefix = wildcardId.slice(0, -1);
  return id.startsWith(prefix) && OPEN_PART.test(id.slice(prefix.length)) && id !== wildcardId;
}
