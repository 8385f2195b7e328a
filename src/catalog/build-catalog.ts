/** Builds the catalog's models from their specifications and keeps unchanged deployments open. */

import { createHash } from "node:crypto";
import type { ChatDefaults } from "../contracts/chat-model.ts";
import type { Model } from "../contracts/engine.ts";
import type { Guardrail } from "../contracts/guardrail.ts";
import type { ModelDescription } from "../contracts/model-description.ts";
import type { CallerHeaders } from "../contracts/open-model.ts";
import type { Price } from "../contracts/price.ts";
import type { Task } from "../contracts/task.ts";
import { Deployment } from "../deployments/deployment.ts";
import type { MemoryBudget } from "../deployments/loading/memory-budget.ts";
import type { ModelSize } from "../deployments/loading/model-memory.ts";
import type { FallbackOccasion, RoutingOptions, RoutingPolicy } from "../deployments/routing-options.ts";
import { type Endpoint, formatAddress } from "../kernel/discovery/endpoint.ts";
import type { EndpointPool } from "../kernel/discovery/endpoint-pool.ts";
import { Secret } from "../kernel/secret.ts";
import type { CatalogModel, PoolEntry } from "./catalog.ts";
import type { MirrorSettings } from "./mirror-settings.ts";
import type { ModelCache, ModelCacheSettings } from "./model-cache.ts";
import type { RememberedDescriptions } from "./remembered-descriptions.ts";

export interface ModelSpec {
  id: string;
  task: Task;
  isBuiltin: boolean;
  ownedBy: string;
  license: string | undefined;
  /** Context window of a chat model in the manifest. */
  contextWindow?: number | undefined;
  /** Length of an embedding model's vectors, where it is known before the model is loaded. */
  dimensions?: number | undefined;
  aliases: readonly string[];
  isHidden: boolean;
  accessGroups: readonly string[];
  /** Without units: that of the deployment applies. */
  price: Price;
  batchPrice?: Price | undefined;
  /** Discounts and surcharges by project ID; undefined: none. */
  projectFactors?: Readonly<Record<string, string>> | undefined;
  defaults?: ChatDefaults | undefined;
  cache?: ModelCacheSettings | undefined;
  guardrails?: readonly Guardrail[] | undefined;
  fallbacks: readonly string[];
  fallbackOccasions?: Readonly<Record<string, FallbackOccasion>> | undefined;
  /** Second model that a share of its chats also goes to; undefined: none. */
  mirror?: MirrorSettings | undefined;
  routing: RoutingPolicy;
  deployments: readonly DeploymentSpec[];
}

interface DeploymentSpec {
  engine: string;
  settings: unknown;
  /** Versions of the files that opening reads; undefined without such files. */
  fileVersions?: string | undefined;
  routingOptions: RoutingOptions;
  /** Endpoints of its pool where no pool looks them up, as in workers; undefined: it is not a pool. */
  endpoints?: readonly Endpoint[] | undefined;
}

export interface OpenRequest extends Omit<DeploymentSpec, "routingOptions" | "fileVersions" | "endpoints"> {
  /** For logs. */
  name: string;
  /** For messages to clients; without the address of an endpoint. */
  entry: string;
  catalogId: string;
  task: Task;
  signal: AbortSignal;
}

export interface CatalogParts {
  /** True if a kind of engine is a proxy to another service. */
  isUpstream: (engine: string) => boolean;
  /** True if a model of this deployment takes a relevant amount of this machine's memory. */
  isLocal: (engine: string, settings: unknown) => boolean;
  /** Pool of endpoints that a deployment stands for; undefined: it has one endpoint. */
  poolOf: (deployment: DeploymentSpec) => EndpointPool | undefined;
  /** Settings of a deployment at one endpoint of its pool. */
  atEndpoint: (engine: string, settings: unknown, endpoint: Endpoint) => unknown;
  /** Headers of a caller that reach an upstream; left out: none. */
  forwardedHeaders?: (engine: string, settings: unknown, headers: CallerHeaders) => Readonly<Record<string, string>>;
  open: (request: OpenRequest) => Promise<Model>;
  /** Checks the settings and downloads the files. Resolves with the size of the files in bytes. */
  prepare: (request: OpenRequest) => Promise<ModelSize>;
  /** Describes a model whose files are there, before its first load. */
  describe?: (request: OpenRequest) => Promise<ModelDescription | undefined>;
  /** What earlier loads have measured, by a deployment's fingerprint. */
  remembered?: Pick<RememberedDescriptions, "get" | "set">;
  /** Bounds the local models' memory. */
  memory: MemoryBudget;
  /** Bounds what local models take of the GPUs' memory. */
  gpuMemory?: MemoryBudget;
  /** Whether a model of this deployment is expected to take memory of a GPU. */
  usesGpu?: (engine: string, settings: unknown) => Promise<boolean>;
  /** Called after each failure to open, before the next attempt. */
  onOpenFailure: (deployment: string, failure: unknown) => void;
  /** Time at which each ID first appeared in the catalog, epoch milliseconds. */
  createdAt: (id: string) => number;
}

/** Deployments by a fingerprint of their configuration, which identifies unchanged ones. */
type Deployments = Map<string, Deployment>;

export interface BuiltCatalog {
  models: readonly CatalogModel[];
  deployments: Deployments;
  /** Previous deployments that are no longer in use, to be retired. */
  dropped: readonly Deployment[];
}

/** Opens nothing: `start()` of each deployment does that, unless it is open. */
export function buildCatalog(
  specifications: readonly ModelSpec[],
  parts: CatalogParts,
  previous: Deployments = new Map(),
): BuiltCatalog {
  const deployments: Deployments = new Map();
  const models = specifications.map((specification): CatalogModel => {
    const { deployments: wanted, cache, ...rest } = specification;
    const pools: PoolEntry[] = [];
    const modelDeployments = wanted.flatMap((each, index) => {
      const name = wanted.length === 1 ? specification.id : `${specification.id}#${index + 1}`;
      const pool = parts.poolOf(each);
      if (pool !== undefined) pools.push({ name, engine: each.engine, endpoints: pool });
      const endpoints = pool?.endpoints ?? each.endpoints;
      const expanded = endpoints === undefined ? [{ ...each, name }] : expand(each, name, endpoints, parts);
      return expanded.map(({ routingOptions, ...opened }) => {
        const identity = identify({ ...opened, task: specification.task });
        const deployment =
          previous.get(identity) ??
          newDeployment({ ...opened, routingOptions, catalogId: specification.id, identity }, specification, parts);
        deployment.routingOptions = optionsFor({ ...opened, routingOptions }, parts);
        deployments.set(identity, deployment);
        return deployment;
      });
    });
    return {
      ...rest,
      cache: cache && toModelCache(cache, specification, parts),
      createdAt: parts.createdAt(specification.id),
      deployments: modelDeployments,
      pools,
    };
  });
  const current = new Set(deployments.values());
  return { models, deployments, dropped: [...previous.values()].filter((each) => !current.has(each)) };
}

function toModelCache(
  cache: ModelCacheSettings,
  { task, deployments }: ModelSpec,
  { forwardedHeaders }: CatalogParts,
): ModelCache {
  const opened = deployments.map(({ engine, settings, fileVersions }) => ({ engine, settings, fileVersions }));
  return {
    ...cache,
    version: identify({ task, opened }),
    forwardedHeaders: (headers) =>
      Object.assign({}, ...opened.map(({ engine, settings }) => forwardedHeaders?.(engine, settings, headers) ?? {})),
  };
}

interface NamedDeployment extends DeploymentSpec {
  name: string;
  /** Name of the entry that stands for its pool. */
  pool?: string;
}

/** Replaces an entry by one deployment for each endpoint, which has circuits, slots and metrics of its own. */
function expand(
  entry: DeploymentSpec,
  pool: string,
  endpoints: readonly Endpoint[],
  { atEndpoint }: CatalogParts,
): NamedDeployment[] {
  const { engine, settings, routingOptions } = entry;
  return endpoints.map((endpoint) => {
    const weight = endpoint.isBackup ? 0 : routingOptions.weight * endpoint.weight;
    return {
      ...entry,
      // Part of the fingerprint otherwise, which does not depend on the other endpoints.
      endpoints: undefined,
      settings: atEndpoint(engine, settings, endpoint),
      routingOptions: { ...routingOptions, weight },
      name: `${pool}@${formatAddress(endpoint)}`,
      pool,
    };
  });
}

function newDeployment(
  { routingOptions, pool, identity, ...wanted }: NamedDeployment & { catalogId: string; identity: string },
  { task }: ModelSpec,
  parts: CatalogParts,
): Deployment {
  const entry = pool ?? wanted.name;
  const isLocal = parts.isLocal(wanted.engine, wanted.settings);
  return new Deployment({
    name: wanted.name,
    pool,
    engine: wanted.engine,
    isUpstream: parts.isUpstream(wanted.engine),
    host: hostOf(wanted.settings),
    task,
    routingOptions: optionsFor({ ...wanted, routingOptions }, parts),
    open: (signal) => parts.open({ ...wanted, entry, task, signal }),
    prepare: (signal) => parts.prepare({ ...wanted, entry, task, signal }),
    describe: (signal) => parts.describe?.({ ...wanted, entry, task, signal }) ?? Promise.resolve(undefined),
    remembered: parts.remembered?.get(identity),
    // An upstream is opened at each start.
    onDescribed: (description) => isLocal && parts.remembered?.set(identity, description),
    memory: isLocal ? parts.memory : undefined,
    gpuMemory: parts.gpuMemory,
    usesGpu: async () => (await parts.usesGpu?.(wanted.engine, wanted.settings)) ?? false,
    onOpenFailure: (failure) => parts.onOpenFailure(wanted.name, failure),
  });
}

/** Host and port of the address in the settings of an upstream. */
function hostOf(settings: unknown): string | undefined {
  const { baseUrl } = (settings ?? {}) as { baseUrl?: unknown };
  return typeof baseUrl === "string" && URL.canParse(baseUrl) ? new URL(baseUrl).host : undefined;
}

/** Only local models are loaded on demand; an upstream has nothing to load. */
function optionsFor({ engine, settings, routingOptions }: DeploymentSpec, { isLocal }: CatalogParts): RoutingOptions {
  return isLocal(engine, settings)
    ? routingOptions
    : { ...routingOptions, load: "start", unloadAfterSeconds: undefined };
}

/** A changed secret makes another deployment, so its hash is part of the fingerprint. */
function identify(deployment: object): string {
  const json = JSON.stringify(deployment, function (this: Record<string, unknown>, key, value: unknown) {
    const original = this[key];
    return original instanceof Secret ? createHash("sha256").update(original.reveal()).digest("hex") : value;
  });
  return createHash("sha256").update(json).digest("hex");
}
