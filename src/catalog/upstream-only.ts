/** The part of the catalog that needs nothing but upstreams, which workers serve. */

import type { ModelSpec } from "./build-catalog.ts";
import type { Catalog } from "./catalog.ts";

/**
 * Leaves the deployments out of models that workers cannot serve: local ones, and those with slots of their own or an empty pool.
 * The models stay, since a request for one must not match a wildcard.
 */
export function withUpstreamsOnly(specs: readonly ModelSpec[], isUpstream: (engine: string) => boolean): ModelSpec[] {
  return specs.map((spec) => {
    const isServed = spec.deployments.every(
      ({ engine, settings, endpoints }) => isUpstream(engine) && !hasSlots(settings) && endpoints?.length !== 0,
    );
    return isServed ? spec : { ...spec, deployments: [] };
  });
}

/** Whether workers can answer a request for the model, its fallbacks and mirror included, without the owner's cache. */
export function isServedByWorkers(catalog: Catalog, id: string): boolean {
  const model = catalog.find(id);
  if (model === undefined || model.model.deployments.length === 0) return false;
  // One process has the cache, in which equal requests of all connections meet.
  if (model.model.cache !== undefined) return false;
  const { fallbacks, mirror } = model.model;
  return [...fallbacks, ...(mirror === undefined ? [] : [mirror.model])].every(
    (each) => (catalog.findFallback(each)?.model.deployments.length ?? 1) > 0,
  );
}

/** One process has to count what is promised over all of them. */
function hasSlots(settings: unknown): boolean {
  return (settings as { maxConcurrency?: number }).maxConcurrency !== undefined;
}
