/** Which models exist: catalog id to task, deployments, access groups and price. */

import type { Task } from "../engines/engine.ts";
import { modelNotFound } from "../faults.ts";
import type { Deployment } from "./deployment.ts";

export interface CatalogModel {
  /** As clients write it; a wildcard ends in `/*`. */
  id: string;
  task: Task;
  /** Whether it comes with Parlance, rather than from the operator's configuration. */
  isBuiltin: boolean;
  /** When it was first in the catalog, epoch milliseconds. */
  createdAt: number;
  ownedBy: string;
  accessGroups: readonly string[];
  /** US dollars as decimal strings, by unit. */
  price: Readonly<Record<string, string>>;
  /** Catalog ids tried, in order, when no deployment can answer. */
  fallbacks: readonly string[];
  deployments: readonly Deployment[];
}

export class Catalog {
  #models: ReadonlyMap<string, CatalogModel> = new Map();
  /** Longest prefix first, so that `a/b/*` goes before `a/*`. */
  #wildcards: readonly CatalogModel[] = [];

  /** In the order of the listing. */
  get models(): Iterable<CatalogModel> {
    return this.#models.values();
  }

  /** Takes effect for the next request; running ones keep the deployment that they have. */
  replace(models: readonly CatalogModel[]): void {
    this.#models = new Map(models.map((model) => [model.id, model]));
    this.#wildcards = models.filter(isWildcard).sort((a, b) => b.id.length - a.id.length);
  }

  /** The model with this id, or the wildcard that covers it. Throws a Fault when there is none. */
  find(id: string): CatalogModel {
    const exact = this.#models.get(id);
    if (exact !== undefined && !isWildcard(exact)) return exact;
    const wildcard = this.#wildcards.find((each) => covers(each.id, id));
    if (wildcard === undefined) throw modelNotFound(id);
    return wildcard;
  }
}

export function isWildcard(model: { id: string }): boolean {
  return model.id.endsWith("/*");
}

function covers(wildcardId: string, id: string): boolean {
  const prefix = wildcardId.slice(0, -1);
  return id.startsWith(prefix) && id.length > prefix.length && id !== wildcardId;
}
