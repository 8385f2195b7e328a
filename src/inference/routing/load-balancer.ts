/** Puts a model's deployments into the order in which a request tries them. */

import type { ResolvedModel } from "../../catalog/catalog.ts";
import type { Deployment } from "../../deployments/deployment.ts";
import { choosePrefixHome, hashPrefix, type PrefixKeys } from "./prefix-affinity.ts";
import { PrefixShares } from "./prefix-shares.ts";
import { rank } from "./rank.ts";

/**
 * `home`: the prefix's own deployment took the request; `overflow`: it was at its bound, and the next in the prefix's
 * order took it; `none`: no deployment with `prefix_caching` had capacity, and the strategy chose.
 */
export type PrefixOutcome = "home" | "overflow" | "none";

export interface LoadBalancerOptions {
  /** Called for each request that is routed by its prefix, with the ID of the catalog's entry. */
  onPrefixRouted?: (model: string, outcome: PrefixOutcome) => void;
}

export class LoadBalancer {
  readonly #onPrefixRouted: (model: string, outcome: PrefixOutcome) => void;
  /** Shares of prefixes by the ID of the catalog's entry. */
  readonly #shares = new Map<string, PrefixShares>();

  constructor({ onPrefixRouted = () => {} }: LoadBalancerOptions = {}) {
    this.#onPrefixRouted = onPrefixRouted;
  }

  /** `prefixKeys` is called only where a deployment caches prefixes. */
  order(candidate: ResolvedModel, prefixKeys: () => PrefixKeys | undefined): readonly Deployment[] {
    const { deployments, routing } = candidate.model;
    if (deployments.length <= 1) return deployments;
    const ordered: Deployment[] = [];
    for (const group of rank(deployments, routing.strategy)) {
      for (const each of group.length === 1 ? group : this.#orderGroup(candidate, group, prefixKeys)) {
        ordered.push(each);
      }
    }
    return ordered;
  }

  /** Healthy deployments take over the prefixes of unhealthy ones until they recover. */
  #orderGroup(
    candidate: ResolvedModel,
    group: Deployment[],
    prefixKeys: () => PrefixKeys | undefined,
  ): readonly Deployment[] {
    const isHealthy = ({ isUp, circuits, name }: Deployment) =>
      isUp && circuits.of(candidate.id).refusal(name) === undefined;
    const healthy = group.filter(isHealthy);
    const home = this.#prefixHome(candidate, healthy, prefixKeys);
    if (home === undefined && healthy.length === group.length) return group;
    const others = home === undefined ? healthy : healthy.filter((each) => each !== home);
    const unhealthy = healthy.length === group.length ? [] : group.filter((each) => !healthy.includes(each));
    return home === undefined ? [...others, ...unhealthy] : [home, ...others, ...unhealthy];
  }

  #prefixHome(
    { model }: ResolvedModel,
    healthy: readonly Deployment[],
    prefixKeys: () => PrefixKeys | undefined,
  ): Deployment | undefined {
    const caching = healthy.filter(({ routingOptions }) => routingOptions.prefixCaching && routingOptions.weight > 0);
    const keys = caching.length === 0 ? undefined : prefixKeys();
    if (keys === undefined) return undefined;
    const shared = keys.shared === undefined ? undefined : hashPrefix(keys.shared);
    const groupSize = shared === undefined ? caching.length : this.#sharesOf(model.id).count(shared, caching.length);
    const hashed = { conversation: hashPrefix(keys.conversation), shared };
    const { chosen, isOverflow } = choosePrefixHome(caching, hashed, groupSize, model.routing.prefixLoadFactor);
    this.#onPrefixRouted(model.id, chosen === undefined ? "none" : isOverflow ? "overflow" : "home");
    return chosen;
  }

  #sharesOf(model: string): PrefixShares {
    const existing = this.#shares.get(model);
    if (existing !== undefined) return existing;
    const shares = new PrefixShares();
    this.#shares.set(model, shares);
    return shares;
  }
}
