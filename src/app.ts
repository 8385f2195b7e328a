/** The service: its parts and features, opened one after the other and connected. */

import { join } from "node:path";
import { Catalog } from "./catalog/catalog.ts";
import { measureDeployments, measurePools } from "./catalog/deployment-status.ts";
import { LiveCatalog, type LiveCatalogOptions } from "./catalog/live-catalog.ts";
import { recordFirstSeen } from "./catalog/model-first-seen.ts";
import type { Config } from "./config/config.ts";
import type { Accounts } from "./features/accounts/accounts.ts";
import { openAccounts } from "./features/accounts/feature.ts";
import { openAudio } from "./features/audio/feature.ts";
import { openBatches } from "./features/batches/feature.ts";
import { chatFeature } from "./features/chat/feature.ts";
import { configurationFeature } from "./features/configuration/feature.ts";
import { consoleFeature } from "./features/console/feature.ts";
import { embeddingFeature } from "./features/embeddings/feature.ts";
import type { Feature } from "./features/feature.ts";
import type { BodyContent } from "./features/files/content-resolver.ts";
import { fileFeature, openFiles } from "./features/files/feature.ts";
import { modelFeature } from "./features/models/feature.ts";
import { moderationFeature } from "./features/moderations/feature.ts";
import { ollamaFeature } from "./features/ollama/feature.ts";
import { operationsFeature } from "./features/operations/feature.ts";
import type { Operations } from "./features/operations/operations.ts";
import { readinessOf } from "./features/operations/readiness.ts";
import { openQuota, quotaFeature } from "./features/quota/feature.ts";
import { openRealtime } from "./features/realtime/feature.ts";
import { RealtimeSessions } from "./features/realtime/realtime-sessions.ts";
import { rerankFeature } from "./features/rerank/feature.ts";
import { openResponses } from "./features/responses/feature.ts";
import { openUsage } from "./features/usage/feature.ts";
import { openWebhooks } from "./features/webhooks/feature.ts";
import { WebhookOutbox } from "./features/webhooks/webhook-outbox.ts";
import { BodyMemory, bodyMemoryBytes } from "./http/body-memory.ts";
import { workerCount } from "./http/settings.ts";
import { prepareUploads } from "./http/upload.ts";
import type { Inference } from "./inference/inference.ts";
import { Metrics } from "./observability/metrics.ts";
import { openTelemetry, type Telemetry } from "./observability/open-telemetry.ts";
import { openInference } from "./open-inference.ts";
import { buildOperationsServer, buildServer } from "./server.ts";
import { openDatabase } from "./storage/database.ts";
import { databaseAddress } from "./storage/database-address.ts";
import type { WorkerPool } from "./workers/worker-pool.ts";

export interface App extends Pick<LiveCatalog, "downloadDefaultChatModel" | "greet"> {
  server: ReturnType<typeof buildServer>;
  /** Health and metrics on a separate address, if configured. */
  operationsServer: ReturnType<typeof buildOperationsServer> | undefined;
  accounts: Accounts;
  inference: Inference;
  /** Undefined: this process serves everything. */
  workers: WorkerPool | undefined;
  readiness: Operations["readiness"];
  /** Starts what runs without requests. */
  start(): void;
  /** Applies a configuration to the catalog; running requests keep their deployments. */
  apply(config: Config): Promise<void>;
}

export interface AppOptions extends Omit<LiveCatalogOptions, "catalog" | "see" | "onEndpointLeft" | "onModels"> {
  config: Config;
}

const NONE: ReadonlySet<string> = new Set();

/**
 * Opens all parts, which do not listen yet, and registers with `lifetime` how to close them, also when it fails halfway.
 * Throws a Fault for settings that cannot work, such as an unusable folder.
 */
export async function openApp(options: AppOptions, lifetime: AsyncDisposableStack): Promise<App> {
  const { config, logger, store } = options;
  let inForce = config;
  let telemetry: Telemetry | undefined;
  let workers: WorkerPool | undefined;
  // Last, because it exports what the others measure while they close.
  lifetime.defer(() => telemetry?.close());
  const database = openDatabase({ ...databaseAddress(config), logger });
  lifetime.defer(() => database.close());
  const parts = { config, database, logger, lifetime };
  const catalog = new Catalog();
  const sessions = new RealtimeSessions(config.realtime.maxSessionsPerProject);
  const metrics = new Metrics({
    deployments: () => measureDeployments(catalog),
    pools: () => measurePools(catalog),
    counters: () => counters.state,
    realtimeSessions: () => sessions.size,
  });
  const { counters, countWrongKey } = await openQuota(parts, metrics);
  telemetry = await openTelemetry(config.openTelemetry, metrics.registry, logger);
  const outbox = new WebhookOutbox(config.webhooks);
  const onChanged = async () => workers?.reloadKeys();
  const accountsFeature = openAccounts({ ...parts, catalog, outbox, countWrongKey, onChanged });
  const { accounts, authenticate } = accountsFeature;
  const usage = openUsage({ ...parts, accounts, catalog, metrics });
  const { recorder, history, spentIn } = usage;
  const openCircuits = () => workers?.openCircuits() ?? NONE;
  const webhooks = openWebhooks({ ...parts, catalog, outbox, metrics, spentIn, openCircuits });
  const live = new LiveCatalog({
    ...options,
    catalog,
    see: (ids) => database.run((executor) => recordFirstSeen(executor, ids, Date.now())),
    onEndpointLeft: (deployment) => metrics.deploymentLeft(deployment),
    onModels: async () => workers?.apply(),
  });
  lifetime.defer(() => live.close());
  const inference = openInference({
    config,
    catalog,
    upstreamModels: live.upstreamModels,
    counters,
    callers: accounts.callers,
    metrics,
    spentIn,
    onSpent: (spent) => webhooks.noteSpent(spent),
    genAi: telemetry?.genAi,
    recordUsage: (record) => recorder.record(record),
    logger,
  });
  const operations: Operations = {
    readiness: () =>
      readinessOf({
        catalog,
        checkDatabase: () => accounts.check(),
        waitsFor: (deployment) => live.waitsFor(deployment),
      }),
    metrics: async () => metrics.scrape((await workers?.measure()) ?? []),
    hiddenModels: () => [...catalog.models].flatMap(({ id, isHidden }) => (isHidden ? [id] : [])),
  };
  const directory = join(config.dataDirectory, "uploads");
  await prepareUploads(directory);
  const stored = await openFiles(parts, inference);
  const { resolver } = stored;
  const bodyMemory = new BodyMemory(bodyMemoryBytes(config.server.maxBodyBytes));
  const content: BodyContent = (reply, body, fields, task) =>
    resolver.inBody(reply, body, fields, { task, memory: bodyMemory });
  const routes = { config, inference, authenticate, content };
  const responses = openResponses({ ...parts, inference, content, accounts });
  const audio = await openAudio({ ...parts, inference, directory });
  const realtime = openRealtime({ ...routes, lifetime, accounts, sessions, store, resolver });
  // After the features that its lines use, so that it closes before them.
  const batches = openBatches({ ...parts, ...stored, inference, accounts, metrics, outbox, directory });
  const features: Feature[] = [
    operationsFeature(config, operations, { accounts, countWrongKey }),
    consoleFeature(config, accounts, countWrongKey),
    chatFeature(routes),
    responses,
    fileFeature(routes, { ...stored, directory, checkUnused: (file) => batches.batches.checkUnused(file) }),
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
    configurationFeature(accounts, () => ({ file: inForce.file, ...inForce.inForce })),
    quotaFeature(parts, accounts, catalog),
  ];
  const server = buildServer({
    settings: config.server,
    features,
    bodyMemory,
    authenticate,
    inference,
    logger,
    tracing: telemetry?.tracing,
    measure: (request) => metrics.request(request),
    recordRequest: (entry) => history.record(entry),
  });
  lifetime.defer(() => server.app.close());
  const operationsServer = config.server.operations && buildOperationsServer(operations, logger);
  lifetime.defer(() => operationsServer?.close());
  if (workerCount(config.server) > 1) {
    // Loads the code of workers only where they are configured.
    const { openWorkers } = await import("./workers/open-workers.ts");
    const services = { accounts, counters, recorder, history, live, spentIn };
    workers = openWorkers({ ...parts, ...services, onSpent: (spent) => webhooks.noteSpent(spent) });
  }
  return {
    server,
    operationsServer,
    accounts,
    inference,
    workers,
    readiness: operations.readiness,
    start: () => {
      for (const feature of features) feature.start?.();
    },
    apply: (next) => {
      inForce = next;
      return live.apply(next);
    },
    greet: (signal) => live.greet(signal),
    downloadDefaultChatModel: (listener, signal) => live.downloadDefaultChatModel(listener, signal),
  };
}
