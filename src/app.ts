/** The service: its parts and features, opened one after the other and connected. */

import { Catalog } from "./catalog/catalog.ts";
import { type CatalogOptions, openCatalog } from "./catalog/open-catalog.ts";
import type { Config } from "./config/config.ts";
import { openAccounts } from "./features/accounts/feature.ts";
import { openAudio } from "./features/audio/feature.ts";
import { openBatches } from "./features/batches/feature.ts";
import { chatFeature } from "./features/chat/feature.ts";
import { configurationFeature } from "./features/configuration/feature.ts";
import { consoleFeature } from "./features/console/feature.ts";
import { embeddingFeature } from "./features/embeddings/feature.ts";
import type { Feature } from "./features/feature.ts";
import { fileFeature, openFiles } from "./features/files/feature.ts";
import { modelFeature } from "./features/models/feature.ts";
import { moderationFeature } from "./features/moderations/feature.ts";
import { ollamaFeature } from "./features/ollama/feature.ts";
import { openMetrics, operationsFeature } from "./features/operations/feature.ts";
import { openQuota, quotaFeature } from "./features/quota/feature.ts";
import { openRealtime } from "./features/realtime/feature.ts";
import { rerankFeature } from "./features/rerank/feature.ts";
import { openResponses } from "./features/responses/feature.ts";
import { openUsage } from "./features/usage/feature.ts";
import { openOutbox, openWebhooks } from "./features/webhooks/feature.ts";
import { BodyMemory, bodyMemoryBytes } from "./http/body-memory.ts";
import { openInference } from "./open-inference.ts";
import { buildOperationsServer, buildServer } from "./server.ts";
import { openConfiguredDatabase } from "./storage/configured-database.ts";
import { openWorkers } from "./workers/open-workers.ts";

export type App = Awaited<ReturnType<typeof openApp>>;

export interface AppOptions
  extends Omit<CatalogOptions, "catalog" | "database" | "lifetime" | "onEndpointLeft" | "onModels"> {
  config: Config;
}

/**
 * Opens all parts, which do not listen yet, and registers with `lifetime` how to close them, also when it fails halfway.
 * Throws a Fault for settings that cannot work, such as an unusable folder.
 */
export async function openApp(options: AppOptions, lifetime: AsyncDisposableStack) {
  const { config, logger, store } = options;
  let current = config;
  // Parts that others reach once everything is open.
  const late: {
    counters?: Awaited<ReturnType<typeof openQuota>>["counters"];
    realtime?: ReturnType<typeof openRealtime>;
    workers?: Awaited<ReturnType<typeof openWorkers>>;
  } = {};
  const catalog = new Catalog();
  const { metrics, telemetry } = await openMetrics({
    config,
    logger,
    lifetime,
    catalog,
    counters: () => late.counters?.state ?? { isShared: undefined, replicas: undefined },
    realtimeSessions: () => late.realtime?.sessions.size ?? 0,
  });
  const database = openConfiguredDatabase(config, logger);
  lifetime.defer(() => database.close());
  const parts = { config, database, logger, lifetime };
  const { counters, countWrongKey } = await openQuota(parts, metrics);
  late.counters = counters;
  const outbox = openOutbox(config);
  const onChanged = async () => late.workers?.reloadKeys();
  const accountsFeature = openAccounts({ ...parts, catalog, outbox, countWrongKey, onChanged });
  const { accounts, authenticate } = accountsFeature;
  const usage = openUsage({ ...parts, accounts, catalog, metrics });
  const { recorder, history, spentIn } = usage;
  const openCircuits = () => late.workers?.openCircuits() ?? new Set<string>();
  const webhooks = openWebhooks({ ...parts, catalog, outbox, metrics, spentIn, openCircuits });
  const onSpent = webhooks.noteSpent.bind(webhooks);
  const live = openCatalog({
    ...options,
    ...parts,
    catalog,
    onEndpointLeft: (deployment) => metrics.deploymentLeft(deployment),
    onModels: async () => late.workers?.apply(),
  });
  const { upstreamModels } = live;
  const inference = openInference({
    ...{ config, catalog, upstreamModels, counters, metrics, spentIn, onSpent, logger },
    callers: accounts.callers,
    genAi: telemetry?.genAi,
    recordUsage: (record) => recorder.record(record),
  });
  const bodyMemory = new BodyMemory(bodyMemoryBytes(config.server.maxBodyBytes));
  const stored = await openFiles(parts, inference, bodyMemory);
  const routes = { config, inference, authenticate, content: stored.content };
  const responses = openResponses({ ...parts, ...routes, accounts });
  const audio = await openAudio({ ...parts, ...stored, inference });
  const realtime = openRealtime({ ...routes, ...stored, lifetime, accounts, store });
  late.realtime = realtime;
  // After the features that its lines use, so that it closes before them.
  const batches = openBatches({ ...parts, ...stored, inference, accounts, metrics, outbox });
  const operations = operationsFeature({
    ...{ config, catalog, accounts, countWrongKey },
    scrape: async () => metrics.scrape((await late.workers?.measure()) ?? []),
    waitsFor: (deployment) => live.waitsFor(deployment),
  });
  const features: Feature[] = [
    operations,
    consoleFeature(config, accounts, countWrongKey),
    chatFeature(routes),
    responses,
    fileFeature(routes, stored, (file) => batches.batches.checkUnused(file)),
    batches,
    modelFeature(routes, { accounts, live, store, memory: config.local.memory }),
    audio,
    embeddingFeature(routes),
    rerankFeature(routes),
    moderationFeature(routes, accounts, catalog),
    realtime,
    ollamaFeature(routes, accounts),
    accountsFeature,
    usage,
    configurationFeature(accounts, () => ({ file: current.file, ...current.effective })),
    quotaFeature(parts, accounts, catalog),
  ];
  const server = buildServer({
    ...{ settings: config.server, features, bodyMemory, authenticate, inference, logger },
    tracing: telemetry?.tracing,
    measure: (request) => metrics.request(request),
    recordRequest: (entry) => history.record(entry),
  });
  lifetime.defer(() => server.app.close());
  const operationsServer = config.server.operations && buildOperationsServer(operations.operations, logger);
  lifetime.defer(() => operationsServer?.close());
  late.workers = await openWorkers({ ...parts, accounts, counters, recorder, history, live, spentIn, onSpent });
  return {
    server,
    /** Health and metrics on a separate address, if configured. */
    operationsServer,
    accounts,
    inference,
    /** Undefined: this process serves everything. */
    workers: late.workers,
    readiness: operations.operations.readiness,
    /** Starts what runs without requests. */
    start: () => {
      for (const feature of features) feature.start?.();
    },
    /** Applies a configuration to the catalog; running requests keep their deployments. */
    apply: (next: Config) => {
      current = next;
      return live.apply(next);
    },
    greet: live.greet.bind(live),
    downloadDefaultChatModel: live.downloadDefaultChatModel.bind(live),
  };
}
