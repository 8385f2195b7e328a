/** The only file that chooses concrete parts and hands them to each other. */

import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { Accounts } from "./accounts/accounts.ts";
import { Decoder } from "./audio/decode.ts";
import type { Config } from "./config/config.ts";
import { isUpstream, openModel } from "./engines/registry.ts";
import type { Operations } from "./http/ops/operations.ts";
import { readinessOf } from "./http/ops/readiness.ts";
import { buildOperationsServer, buildServer, type Server } from "./http/server.ts";
import { prepareUploads } from "./http/upload.ts";
import { type BuiltCatalog, buildCatalog, type CatalogParts } from "./inference/build-catalog.ts";
import { Catalog } from "./inference/catalog.ts";
import { Inference } from "./inference/inference.ts";
import { namesSomething } from "./inference/names-something.ts";
import { Router } from "./inference/router.ts";
import { UpstreamModels } from "./inference/upstream-models.ts";
import type { ModelStore } from "./models/model-store.ts";
import type { PullProgress } from "./models/pull-progress.ts";
import type { Logger } from "./observability/logger.ts";
import { type DeploymentMeasure, Metrics } from "./observability/metrics.ts";
import { unlimited } from "./quota/quota.ts";
import { specifyModels } from "./specify-models.ts";
import { openDatabase } from "./storage/database.ts";
import { seeModels } from "./storage/model-sightings.ts";

const DATABASE_PATIENCE_MILLISECONDS = 1000;

export interface Service {
  server: Server;
  /** Health and metrics on an address of their own, when configured. */
  operationsServer: ReturnType<typeof buildOperationsServer> | undefined;
  accounts: Accounts;
  inference: Inference;
  readiness: Operations["readiness"];
  /** Brings the catalog to a configuration; running requests keep what they have. */
  apply(config: Config): Promise<void>;
  close(): Promise<void>;
}

export interface ComposeOptions {
  config: Config;
  logger: Logger;
  store: ModelStore;
  onPullProgress: (progress: PullProgress) => void;
}

export async function compose(options: ComposeOptions): Promise<Service> {
  const { config, logger, store } = options;
  const file = join(config.dataDirectory, "parlance.sqlite");
  const database = openDatabase({ url: config.databaseUrl, file, logger });
  const accounts = new Accounts({ database, logger, databaseGraceSeconds: config.server.databaseGraceSeconds });
  const catalog = new Catalog();
  const metrics = new Metrics(() => measureDeployments(catalog));
  const see = (ids: string[]) => database.run((executor) => seeModels(executor, ids, Date.now()));
  const upstreamModels = new UpstreamModels({
    see,
    onFailure: (deployment, err) => logger.warn({ deployment, err }, "upstream does not list its models"),
  });
  const inference = new Inference({
    catalog,
    upstreamModels,
    router: new Router({ onAttempt: (attempt) => metrics.attempt(attempt) }),
    quota: unlimited,
    accessOf: (caller) => accounts.modelAccess(caller),
    requestTimeoutSeconds: config.server.requestTimeoutSeconds,
    onSettled: ({ catalogId, deployment = "", firstTokenSeconds, used }) =>
      metrics.inference({ model: catalogId, deployment, firstTokenSeconds, ...used }),
  });

  /** What deployments that are not open yet wait for. */
  const pulls = new Map<string, PullProgress>();
  let built: BuiltCatalog | undefined;
  /** A database that is away must not delay the start: the times are now's then, until the next configuration. */
  const seeSpecified = async (ids: string[]): Promise<ReadonlyMap<string, number>> => {
    const seen = see(ids).catch(() => undefined);
    return (await Promise.race([seen, pause(DATABASE_PATIENCE_MILLISECONDS, undefined, { ref: false })])) ?? new Map();
  };
  const parts: Omit<CatalogParts, "createdAt"> = {
    isUpstream,
    open: ({ engine, settings, task, ...names }) =>
      openModel(engine, settings, task, {
        ...names,
        logger: logger.child({ deployment: names.name }),
        pull: async (reference, signal) => {
          const onProgress = (progress: PullProgress) => {
            pulls.set(names.name, progress);
            options.onPullProgress(progress);
          };
          try {
            return await store.pull(reference, { signal, onProgress });
          } finally {
            pulls.delete(names.name);
          }
        },
      }),
    onOpenFailure: (deployment, failure) => logger.error({ deployment, err: failure }, "model could not be opened"),
  };

  const operations: Operations = {
    readiness: () =>
      readinessOf({
        catalog,
        checkDatabase: () => accounts.check(),
        waitsFor: (deployment) => describePull(pulls.get(deployment)),
      }),
    metrics: () => metrics.scrape(),
  };
  const separate = config.server.operations !== undefined;
  const decoder = new Decoder();
  const uploads = { directory: join(config.dataDirectory, "uploads"), maxBytes: config.server.maxUploadBytes };
  await prepareUploads(uploads.directory);
  const server = buildServer({
    accounts,
    inference,
    isKnownModel: (entry) => namesSomething(catalog, entry),
    operations: separate ? undefined : operations,
    maxBodyBytes: config.server.maxBodyBytes,
    transcription: { decoder, uploads, maxAudioSeconds: config.server.maxAudioSeconds },
    receiveTimeoutSeconds: config.server.receiveTimeoutSeconds,
    logger,
    measure: (request) => metrics.request(request),
  });

  return {
    server,
    operationsServer: separate ? buildOperationsServer(operations, logger) : undefined,
    accounts,
    inference,
    readiness: operations.readiness,
    apply: async (next) => {
      const specifications = await specifyModels(next, store);
      const firstSeen = await seeSpecified(specifications.map(({ id }) => id));
      built = buildCatalog(
        specifications,
        { ...parts, createdAt: (id) => firstSeen.get(id) ?? Date.now() },
        built?.deployments,
      );
      catalog.replace(built.models);
      for (const deployment of built.deployments.values()) deployment.start();
      upstreamModels.watch(built.models);
      for (const deployment of built.dropped) void deployment.retire();
    },
    close: async () => {
      decoder.close();
      upstreamModels.stop();
      await Promise.all([...(built?.deployments.values() ?? [])].map((deployment) => deployment.close()));
      await accounts.close();
      await database.close();
    },
  };
}

function* measureDeployments(catalog: Catalog): Iterable<DeploymentMeasure> {
  for (const model of catalog.models) {
    for (const { name, state, slots, circuit } of model.deployments) {
      const isUp = state.state === "up";
      const isResting = circuit.state !== "closed";
      const { waiting, inUse: slotsInUse } = slots;
      yield { model: model.id, deployment: name, isUp, isResting, waiting, slotsInUse };
    }
  }
}

function describePull(progress: PullProgress | undefined): string | undefined {
  if (progress === undefined) return undefined;
  const { file, phase, source, receivedBytes, totalBytes } = progress;
  if (phase === "waiting") return `waiting for another process that fetches ${file}`;
  if (phase !== "fetching") return undefined;
  const size = totalBytes === undefined ? `${receivedBytes} bytes` : `${receivedBytes} of ${totalBytes} bytes`;
  return `fetching ${file} from ${source}: ${size}`;
}
