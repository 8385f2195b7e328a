/** Catalog of a worker: the models that the owner sends. Opens upstreams only, without a request to them. */

import { type BuiltCatalog, buildCatalog, type CatalogParts, type ModelSpec } from "../catalog/build-catalog.ts";
import { Catalog } from "../catalog/catalog.ts";
import type { Deployment } from "../deployments/deployment.ts";
import { MemoryBudget } from "../deployments/loading/memory-budget.ts";
import { atEndpoint, openModel } from "../engines/registry.ts";
import type { Logger } from "../kernel/logger.ts";
import type { DeploymentMeasure } from "../observability/deployment-measure.ts";

export class WorkerCatalog {
  readonly catalog = new Catalog();
  readonly #parts: CatalogParts;
  readonly #onEndpointLeft: (deployment: string) => void;
  #built: BuiltCatalog | undefined;
  #applying: Promise<void> = Promise.resolve();

  /** `onEndpointLeft`: called once a deployment of a pool has ended its requests. */
  constructor(logger: Logger, onEndpointLeft: (deployment: string) => void) {
    this.#onEndpointLeft = onEndpointLeft;
    this.#parts = {
      isUpstream: () => true,
      isLocal: () => false,
      // The owner sends the endpoints of pools.
      poolOf: () => undefined,
      atEndpoint,
      open: ({ name, entry, catalogId, engine, settings, task, signal }) =>
        openModel(engine, settings, task, {
          name: entry,
          catalogId,
          signal,
          logger: logger.child({ deployment: name }),
          pull: () => Promise.reject(new Error("workers have no model files")),
          findPulled: async () => undefined,
        }),
      prepare: async () => ({ fileBytes: 0, contextBytes: 0 }),
      memory: new MemoryBudget(0),
      onOpenFailure: (deployment, err) => logger.error({ deployment, err }, "cannot open a model"),
      // Only listings show it, which the owner answers.
      createdAt: () => 0,
    };
  }

  /**
   * Resolves once all models are open. Running requests keep their deployments. Sequential: models that take longer to
   * open would otherwise replace later ones.
   */
  apply(models: readonly ModelSpec[]): Promise<void> {
    const applied = this.#applying.then(() => this.#apply(models));
    this.#applying = applied.catch(() => {});
    return applied;
  }

  async #apply(models: readonly ModelSpec[]): Promise<void> {
    const built = buildCatalog(models, this.#parts, this.#built?.deployments);
    this.#built = built;
    const { signal } = new AbortController();
    // A failure is logged, and tried again.
    await Promise.all([...built.deployments.values()].map((each) => each.load(signal).catch(() => each.start())));
    this.catalog.replace(built.models);
    for (const deployment of built.dropped) void this.#retire(deployment);
  }

  async #retire(deployment: Deployment): Promise<void> {
    await deployment.retire();
    if (deployment.pool !== undefined) this.#onEndpointLeft(deployment.name);
  }

  *measure(): Iterable<DeploymentMeasure> {
    for (const model of this.catalog.models) {
      for (const { name, isUp, slots, circuits, engineLoad } of model.deployments) {
        const { waiting, inUse: slotsInUse } = slots;
        const isCircuitOpen = circuits.state !== "closed";
        const ofLocalModels = { memoryBytes: undefined, loadSeconds: undefined };
        const measured = { isUp, isCircuitOpen, waiting, slotsInUse, engineLoad };
        yield { model: model.id, deployment: name, ...measured, ...ofLocalModels };
      }
    }
  }

  async close(): Promise<void> {
    await Promise.all([...(this.#built?.deployments.values() ?? [])].map((deployment) => deployment.close()));
  }
}
