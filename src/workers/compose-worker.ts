import { KEY_POLICIES } from "../serving/account-extensions.ts";
import { budgetedTags } from "../serving/budgeted-tags.ts";
/** Creates the parts of a worker and connects them; everything that needs one truth is the owner's. */

import { UpstreamModels } from "../catalog/upstream-models.ts";
import { isServedByWorkers } from "../catalog/upstream-only.ts";
import { Callers } from "../features/accounts/callers.ts";
import { labelReader } from "../features/usage/request-labels.ts";
import { bodyMemoryBytes } from "../http/body-memory.ts";
import type { GuardrailServices } from "../inference/guardrails/guardrail-services.ts";
import type { Inference } from "../inference/inference.ts";
import { Poll } from "../kernel/jobs/poll.ts";
import type { Logger } from "../kernel/logger.ts";
import { Metrics } from "../observability/metrics.ts";
import { openTelemetry } from "../observability/open-telemetry.ts";
import { type LiveSettings, openInference } from "../serving/open-inference.ts";
import type { Server } from "../serving/server.ts";
import type { Channel } from "./channel.ts";
import { ForwardToOwner } from "./forward-to-owner.ts";
import type { OwnerMethods, WorkerSettings, WorkerUpdate } from "./protocol.ts";
import { WorkerCatalog } from "./worker-catalog.ts";
import { WorkerCounters } from "./worker-counters.ts";
import { WorkerRecords } from "./worker-records.ts";
import { buildWorkerServer } from "./worker-server.ts";

const CIRCUITS_MS = 1000;

export interface ComposedWorker {
  server: Server;
  inference: Inference;
  catalog: WorkerCatalog;
  metrics: Metrics;
  callers: Callers;
  apply(update: WorkerUpdate): Promise<void>;
  close(): Promise<void>;
}

const OWNER_GUARDS: GuardrailServices = {
  analyze: () => Promise.reject(new Error("a worker has no guardrails")),
  ask: () => Promise.reject(new Error("a worker has no guardrails")),
};

export async function composeWorker(
  worker: WorkerSettings,
  owner: Channel<OwnerMethods>,
  logger: Logger,
): Promise<ComposedWorker> {
  const { config, workers } = worker;
  const { server: settings } = config;
  const records = new WorkerRecords(owner);
  const catalog = new WorkerCatalog(logger, (deployment) => metrics.deploymentLeft(deployment));
  const counters = new WorkerCounters(owner);
  const metrics = new Metrics({
    deployments: () => catalog.measure(),
    // The owner looks their endpoints up.
    pools: () => [],
  });
  await catalog.apply(worker.models);
  const telemetry = await openTelemetry(config.openTelemetry, metrics.registry, logger);
  const callers = new Callers({
    policies: KEY_POLICIES,
    source: {
      kind: worker.keyKind,
      readVersion: () => owner.call("readKeysVersion"),
      load: async (hashes) => new Map(await owner.call("loadKeys", hashes)),
    },
    logger,
    graceSeconds: settings.databaseGraceSeconds,
    noteUse: (keyId, use) => records.noteUse(keyId, use),
  });
  let live: LiveSettings = config;
  const inference = openInference({
    config,
    settings: () => live,
    catalog: catalog.catalog,
    upstreamModels: new UpstreamModels({ see: async () => new Map(), onFailure: () => {} }),
    counters,
    callers,
    metrics,
    genAi: telemetry?.genAi,
    spentIn: (scope, window, isExact) => owner.call("spentIn", scope, window, isExact),
    onSpent: (spent) => owner.notify("noteSpent", spent),
    recordUsage: (record) => records.recordUsage(record),
    recordMirrored: ({ entry }) => records.recordRequest(entry),
    // The owner answers requests with guardrails.
    guardrailServices: OWNER_GUARDS,
    logger,
  });
  const forward = new ForwardToOwner({ socketPath: worker.socketPath, secret: worker.forwardSecret });
  const server = buildWorkerServer({
    settings,
    inference,
    callers,
    owner: forward,
    readLabels: labelReader(config.usage.labels, budgetedTags(callers)),
    servesModel: (id) => isServedByWorkers(catalog.catalog, id),
    maxBodiesBytes: bodyMemoryBytes(settings.maxBodyBytes, workers),
    connectionCounter: {
      open: (address) => owner.call("openConnection", address),
      close: (address) => owner.notify("closeConnection", address),
    },
    logger,
    tracing: telemetry?.tracing,
    measure: (request) => metrics.request(request),
    recordRequest: (entry) => records.recordRequest(entry),
  });
  let wereOpen = "[]";
  const reportCircuits = () => {
    const open = [...catalog.measure()].filter((each) => each.isCircuitOpen).map(({ deployment }) => deployment);
    if (JSON.stringify(open) !== wereOpen) owner.notify("noteOpenCircuits", open);
    wereOpen = JSON.stringify(open);
  };
  const circuits = new Poll(reportCircuits, { everyMs: CIRCUITS_MS });
  return {
    server,
    inference,
    catalog,
    metrics,
    callers,
    apply: async (update) => {
      // Guardrails and limits do not wait for models to open.
      live = update;
      await catalog.apply(update.models);
    },
    close: async () => {
      circuits.stop();
      forward.close();
      await catalog.close();
      await telemetry?.close();
      records.close();
    },
  };
}
