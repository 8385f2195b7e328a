/** Applies configurations to the catalog: opens models, lists upstreams' models and retires dropped deployments. */

import type { Deployment } from "../deployments/deployment.ts";
import { GPU_MEMORY, MemoryBudget } from "../deployments/loading/memory-budget.ts";
import { atEndpoint, endpointsOf, forwardedHeaders, isLocal, isUpstream, usesGpu } from "../engines/registry.ts";
import { resultWithin } from "../kernel/async/timeout.ts";
import type { EndpointSource } from "../kernel/discovery/endpoint.ts";
import type { EndpointPool } from "../kernel/discovery/endpoint-pool.ts";
import { EndpointPools } from "../kernel/discovery/endpoint-pools.ts";
import { defaultMemoryBudget } from "../kernel/process/available-memory.ts";
import { defaultGpuBudget } from "../kernel/process/gpus.ts";
import type { Settings } from "../kernel/settings/settings.ts";
import { type DownloadListener, downloadDefaultModels } from "./background-download.ts";
import {
  type BuiltCatalog,
  buildCatalog,
  type CatalogParts,
  type ModelSpec,
  type OpenRequest,
} from "./build-catalog.ts";
import type { Catalog } from "./catalog.ts";
import { thisMachine } from "./default-models.ts";
import { withFileVersions } from "./file-versions.ts";
import { ModelOpener, type ModelOpenerOptions } from "./model-opener.ts";
import { buildModelSpecs } from "./model-specs.ts";
import { withPrices } from "./prices/with-prices.ts";
import type { RememberedDescriptions } from "./remembered-descriptions.ts";
import { UpstreamModels } from "./upstream-models.ts";

export interface LiveCatalogOptions extends ModelOpenerOptions {
  /** Returns the time at which each ID first appeared in the catalog, and stores new IDs. */
  see: (ids: string[]) => Promise<ReadonlyMap<string, number>>;
  /** Called when the requests of an endpoint that left its pool have ended. */
  onEndpointLeft: (deployment: string) => void;
  /** Called after `models` has changed. */
  onModels?: () => Promise<void>;
  catalog: Catalog;
  /** What loads of earlier processes have measured. */
  remembered?: RememberedDescriptions | undefined;
}

/** Time for which requests go to the previous endpoints of a pool while the connections of new ones are prepared. */
const OPEN_MS = 1000;

/** An unavailable database does not delay the start: the current time stands in until the next configuration. */
const DATABASE_TIMEOUT_MS = 1000;

export class LiveCatalog {
  readonly catalog: Catalog;
  readonly upstreamModels: UpstreamModels;
  readonly memory = new MemoryBudget(defaultMemoryBudget());
  readonly gpuMemory = new MemoryBudget(Number.POSITIVE_INFINITY, GPU_MEMORY);
  readonly #options: LiveCatalogOptions;
  readonly #opener: ModelOpener;
  readonly #pools: EndpointPools;
  /** Deployments that are no longer in the catalog and whose requests have not ended. */
  readonly #retiring = new Set<Deployment>();
  #specifications: readonly ModelSpec[] = [];
  #firstSeen: ReadonlyMap<string, number> = new Map();
  #built: BuiltCatalog | undefined;
  #config: Settings | undefined;
  #replacing: Promise<void> = Promise.resolve();
  #applying: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(options: LiveCatalogOptions) {
    this.#options = options;
    this.catalog = options.catalog;
    this.#opener = new ModelOpener(options);
    this.#pools = new EndpointPools(options.logger, () =>
      this.#replace((models) => this.upstreamModels.update(models))
        .then(() => options.onModels?.())
        .catch((err: unknown) => options.logger.error({ err }, "cannot apply the endpoints of a pool")),
    );
    this.upstreamModels = new UpstreamModels({
      see: options.see,
      onFailure: (deployment, err) => options.logger.warn({ deployment, err }, "cannot list an upstream's models"),
    });
  }

  /** The configuration in force; undefined before the first one is applied. */
  get config(): Settings | undefined {
    return this.#config;
  }

  /** Specifications of the models in the catalog, with the endpoints that their pools have now. */
  get models(): readonly ModelSpec[] {
    return this.#specifications.map((specification) => ({
      ...specification,
      deployments: specification.deployments.map((each) => ({ ...each, endpoints: this.#poolOf(each)?.endpoints })),
    }));
  }

  /** Throws what `apply` would throw for a configuration whose files cannot be read. */
  async check(config: Settings): Promise<void> {
    await this.#specify(config);
  }

  async #specify(config: Settings): Promise<readonly ModelSpec[]> {
    return withFileVersions(await withPrices(await buildModelSpecs(config, this.#options.store), config));
  }

  /** Takes effect for the next request; running requests keep their deployments. */
  apply(config: Settings): Promise<void> {
    return this.#inTurn(() => this.#apply(config));
  }

  /** Sequential, because a refresh that began with the older configuration could otherwise end after a reload. */
  #inTurn(apply: () => Promise<void>): Promise<void> {
    const applied = this.#applying.then(apply);
    this.#applying = applied.catch(() => {});
    return applied;
  }

  async #apply(config: Settings): Promise<void> {
    const specifications = await this.#specify(config);
    const firstSeen = await this.#see(specifications.map(({ id }) => id));
    this.memory.limitBytes = config.local.memory ?? defaultMemoryBudget();
    // Not awaited: a driver may take seconds to answer, and models are loaded after the start.
    void this.#limitGpuMemory(config);
    await this.#pools.start(sourcesOf(specifications));
    // Only here, so that a configuration that could not be applied is not the one of the next refresh.
    this.#config = config;
    this.#specifications = specifications;
    this.#firstSeen = firstSeen;
    await this.#replace((models) => this.upstreamModels.watch(models));
    void this.memory.trim();
    await this.#options.onModels?.();
    this.#pools.retain(sourcesOf(this.#specifications));
  }

  async #limitGpuMemory({ local: { gpuMemory } }: Settings): Promise<void> {
    this.gpuMemory.limitBytes = gpuMemory ?? (await defaultGpuBudget()) ?? Number.POSITIVE_INFINITY;
    void this.gpuMemory.trim();
  }

  /** Puts the present configuration and endpoints into the catalog. */
  #replace(listUpstreamModels: (models: BuiltCatalog["models"]) => void): Promise<void> {
    const replaced = this.#replacing.then(async () => {
      if (this.#isClosed) return;
      const built = buildCatalog(this.#specifications, this.#parts(), this.#built?.deployments);
      this.#built = built;
      for (const deployment of built.deployments.values()) deployment.start();
      await this.#opened(built);
      this.catalog.replace(built.models);
      listUpstreamModels(built.models);
      for (const deployment of built.dropped) void this.#retire(deployment);
    });
    this.#replacing = replaced.catch(() => {});
    return replaced;
  }

  #parts(): CatalogParts {
    const firstSeen = this.#firstSeen;
    return {
      isUpstream,
      isLocal,
      poolOf: (deployment) => this.#poolOf(deployment),
      atEndpoint,
      forwardedHeaders,
      open: (request) => this.#opener.open(request),
      prepare: (request) => this.#opener.prepare(request),
      describe: (request) => this.#opener.describe(request),
      ...(this.#options.remembered && { remembered: this.#options.remembered }),
      memory: this.memory,
      gpuMemory: this.gpuMemory,
      usesGpu,
      onOpenFailure: (deployment, failure) => this.#opener.reportFailure(deployment, failure),
      createdAt: (id) => firstSeen.get(id) ?? Date.now(),
    };
  }

  #poolOf({ engine, settings }: Pick<OpenRequest, "engine" | "settings">): EndpointPool | undefined {
    const source = endpointsOf(engine, settings);
    return source && this.#pools.of(source);
  }

  /** Opens the deployments of new endpoints, so that no request finds only those still to be opened. */
  async #opened({ deployments }: BuiltCatalog): Promise<void> {
    const joining = [...deployments.values()].filter(({ pool, isUp }) => pool !== undefined && !isUp);
    if (joining.length === 0) return;
    const signal = AbortSignal.timeout(OPEN_MS);
    await Promise.allSettled(joining.map((deployment) => deployment.opened(signal)));
  }

  async #retire(deployment: Deployment): Promise<void> {
    this.#retiring.add(deployment);
    await deployment.retire();
    this.#retiring.delete(deployment);
    if (deployment.pool !== undefined) this.#options.onEndpointLeft(deployment.name);
  }

  /** Updates the catalog with the pulled models. */
  refresh(): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#config !== undefined) await this.#apply(this.#config);
    });
  }

  /** Loads the first built-in chat model if it is loaded on demand. Does not throw: /health/ready reports failures. */
  async greet(signal: AbortSignal): Promise<void> {
    const chat = [...this.catalog.models].find(({ task, isBuiltin }) => task === "chat" && isBuiltin);
    const [deployment] = chat?.deployments ?? [];
    if (deployment?.routingOptions.load === "on_demand") await deployment.load(signal).catch(() => {});
  }

  /**
   * Downloads the models that suit the machine and are missing, and loads the chat model. Resolves with their IDs. Throws
   * the signal's reason on abort.
   */
  async downloadDefaultModels(listener: DownloadListener, signal: AbortSignal): Promise<readonly string[]> {
    if (this.#config === undefined) return [];
    const { store, logger, onPullProgress } = this.#options;
    return downloadDefaultModels(
      {
        config: this.#config,
        store,
        machine: { ...thisMachine(this.#config), freeBytes: process.availableMemory() },
        onDownloaded: async ({ task }) => {
          await this.refresh();
          if (task === "chat") await this.greet(signal);
        },
        onProgress: onPullProgress,
        logger,
      },
      listener,
      signal,
    );
  }

  /** Describes what a deployment that is not yet open waits for. */
  waitsFor(deployment: string): string | undefined {
    return this.#opener.waitsFor(deployment);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#pools.close();
    await this.#replacing;
    this.upstreamModels.stop();
    const deployments = [...(this.#built?.deployments.values() ?? []), ...this.#retiring];
    await Promise.all(deployments.map((deployment) => deployment.close()));
    await this.#options.remembered?.written();
    await this.#options.store.settled();
  }

  async #see(ids: string[]): Promise<ReadonlyMap<string, number>> {
    const firstSeen = this.#options.see(ids).catch(() => undefined);
    return (await resultWithin(firstSeen, DATABASE_TIMEOUT_MS)) ?? new Map();
  }
}

function sourcesOf(specifications: readonly ModelSpec[]): EndpointSource[] {
  const deployments = specifications.flatMap((specification) => specification.deployments);
  return deployments.flatMap(({ engine, settings }) => endpointsOf(engine, settings) ?? []);
}
