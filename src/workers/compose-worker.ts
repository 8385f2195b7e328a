/** Creates the parts of a worker and connects them; everything that needs one truth is the owner's. */

import { UpstreamModels } from "../catalog/upstream-models.ts";
import { isServedByWorkers } from "../catalog/upstream-only.ts";
import { composeInference } from "../compose-inference.ts";
import { Callers } from "../features/accounts/callers.ts";
import type { Inference } from "../inference/inference.ts";
import { defaultMemoryBudget } from "../kernel/process/available-memory.ts";
import type { Logger } from "../observability/logger.ts";
import { Metrics } from "../observability/metrics.ts";
import { openTelemetry } from "../observability/open-telemetry.ts";
import type { Server } from "../server.ts";
import type { Channel } from "./channel.ts";
import { ForwardToOwner } from "./forward-to-owner.ts";
import type { OwnerMethods, WorkerSettings } from "./protocol.ts";
import { WorkerCatalog } from "./worker-catalog.ts";
import { WorkerCounters } from "./worker-counters.ts";
import { WorkerRecords } from "./worker-records.ts";
import { buildWorkerServer } from "./worker-server.ts";

const CIRCUITS_MS = 1000;
/** As in the service's own server, shared by the workers. */
const BODY_SHARE = 1 / 16;
const MIN_BODIES = 8;

export interface ComposedWorker {
  server: Server;
  inference: Inference;
  catalog: WorkerCatalog;
  metrics: Metrics;
  callers: Callers;
  close(): Promise<void>;
}

export async function composeWorker(
  settings: WorkerSettings,
  owner: Channel<OwnerMethods>,
  logger: Logger,
): Promise<ComposedWorker> {
  const { config, workers } = settings;
  const { server: limits } = config;
  const records = new WorkerRecords(owner);
  const catalog = new WorkerCatalog(logger);
  await catalog.apply(settings.models);
  const counters = new WorkerCounters(owner, settings.counterEpoch);
  const metrics = new Metrics({
    deployments: () => catalog.measure(),
    // The owner answers for models with pools.
    pools: () => [],
    counters: () => ({ isShared: undefined, replicas: undefined }),
    realtimeSessions: () => 0,
  });
  const telemetry = await openTelemetry(config.openTelemetry, metrics.registry, logger);
  const callers = new Callers({
    source: {
      kind: settings.keyKind,
      readVersion: () => owner.call("readKeysVersion"),
      load: async (hashes) => new Map(await owner.call("loadKeys", hashes)),
    },
    logger,
    graceSeconds: limits.databaseGraceSeconds,
    noteUse: (keyId, time) => records.noteUse(keyId, time),
  });
  const inference = composeInference({
    config,
    catalog: catalog.catalog,
    upstreamModels: new UpstreamModels({ see: async () => new Map(), onFailure: () => {} }),
    counters,
    callers,
    metrics,
    genAi: telemetry?.genAi,
    spentIn: (caller, scopeId, month) => owner.call("spentIn", caller, scopeId, month),
    onSpent: (spent) => owner.notify("noteSpent", spent),
    recordUsage: (record) => records.recordUsage(record),
    logger,
  });
  const forward = new ForwardToOwner({ socketPath: settings.socketPath, secret: settings.forwardSecret });
  const server = buildWorkerServer({
    ...limits,
    inference,
    callers,
    owner: forward,
    servesModel: (id) => isServedByWorkers(catalog.catalog, id),
    maxBodiesBytes: Math.max(MIN_BODIES * limits.maxBodyBytes, (defaultMemoryBudget() * BODY_SHARE) / workers),
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
  const circuits = setInterval(() => {
    const open = [...catalog.measure()].filter((each) => each.isCircuitOpen).map(({ deployment }) => deployment);
    if (JSON.stringify(open) !== wereOpen) owner.notify("noteOpenCircuits", open);
    wereOpen = JSON.stringify(open);
  }, CIRCUITS_MS).unref();
  return {
    server,
    inference,
    catalog,
    metrics,
    callers,
    close: async () => {
      clearInterval(circuits);
      forward.close();
      await catalog.close();
      await telemetry?.close();
      records.close();
    },
  };
}
