/** The only file that chooses implementations and connects them. */

import { join } from "node:path";
import { Decoder } from "@parlance-inference/audio/decode";
import { checkFfmpeg } from "@parlance-inference/audio/ffmpeg-decoder";
import { deploymentHealth, measureDeployments, measurePools } from "./catalog/deployment-status.ts";
import { LiveCatalog, type LiveCatalogOptions } from "./catalog/live-catalog.ts";
import { recordFirstSeen } from "./catalog/model-first-seen.ts";
import { resolvePermissionEntry } from "./catalog/resolve-permission-entry.ts";
import { composeInference } from "./compose-inference.ts";
import type { Config } from "./config/config.ts";
import { openCounters } from "./counters/open-counters.ts";
import { Accounts } from "./features/accounts/accounts.ts";
import type { Caller } from "./features/accounts/caller.ts";
import { toAudioFault } from "./features/audio/audio-faults.ts";
import { batchRetention } from "./features/batches/batch-retention.ts";
import { Batches } from "./features/batches/batches.ts";
import { openBatchQueue } from "./features/batches/open-batch-queue.ts";
import { lineRunner } from "./features/batches/run-line.ts";
import { ContentResolver } from "./features/files/content-resolver.ts";
import { fileRetention } from "./features/files/file-retention.ts";
import { FileStore } from "./features/files/file-store.ts";
import { LocalBlobs } from "./features/files/local-blobs.ts";
import { S3Blobs } from "./features/files/s3-blobs.ts";
import { ModelOperations } from "./features/models/model-operations.ts";
import type { Operations } from "./features/operations/operations.ts";
import { readinessOf } from "./features/operations/readiness.ts";
import { FailedAuthentications } from "./features/quota/failed-authentications.ts";
import type { Month } from "./features/quota/spend-limits.ts";
import { SpeechDetection } from "./features/realtime/speech-detection.ts";
import { ResponseStorage } from "./features/responses/response-storage.ts";
import { RequestHistory } from "./features/usage/request-history.ts";
import { UsageRecorder } from "./features/usage/usage-recorder.ts";
import { UsageReports } from "./features/usage/usage-report.ts";
import { historyRetention, usageRetention } from "./features/usage/usage-retention.ts";
import { WebhookOutbox } from "./features/webhooks/webhook-outbox.ts";
import { Webhooks } from "./features/webhooks/webhooks.ts";
import { prepareUploads } from "./http/upload.ts";
import type { Inference } from "./inference/inference.ts";
import { openKeyring } from "./kernel/encryption/open-keyring.ts";
import { OutgoingGuard } from "./kernel/outgoing/outgoing-guard.ts";
import { voiceActivityFile } from "./model-store/voice-activity-file.ts";
import type { Logger } from "./observability/logger.ts";
import { Metrics } from "./observability/metrics.ts";
import { openTelemetry } from "./observability/open-telemetry.ts";
import { buildOperationsServer, buildServer, type Server } from "./server.ts";
import { type Database, openDatabase } from "./storage/database.ts";
import { databaseAddress } from "./storage/database-address.ts";
import { readReplicaCount, writeReplicaCount } from "./storage/replica-count.ts";
import { type OwnerParts, OwnerServices } from "./workers/owner-services.ts";

/** The same from `src` and from `dist`. */
const CONSOLE_FOLDER = join(import.meta.dirname, "../console/dist");

export interface Service {
  server: Server;
  /** Health and metrics on a separate address, if configured. */
  operationsServer: ReturnType<typeof buildOperationsServer> | undefined;
  accounts: Accounts;
  inference: Inference;
  /** Responses that run without a connection of their client. */
  backgroundCount(): number;
  batches: Pick<Batches, "start" | "drain">;
  /** What the workers use, if there are any. */
  forWorkers: OwnerServices;
  readiness: Operations["readiness"];
  /** Applies a configuration to the catalog; running requests keep their deployments. */
  apply(config: Config): Promise<void>;
  /** Loads the first built-in chat model if it is loaded on demand, to show a new user that it works. */
  greet(signal: AbortSignal): Promise<void>;
  /** Downloads the default chat model after the start, if it is missing and memory allows; resolves once it is loaded. */
  downloadDefaultChatModel: LiveCatalog["downloadDefaultChatModel"];
  close(): Promise<void>;
}

export interface ComposeOptions extends Omit<LiveCatalogOptions, "see" | "onEndpointLeft"> {
  config: Config;
}

/**
 * Creates all parts, which do not listen yet. Throws a Fault for settings that cannot work, such as an unusable
 * folder.
 */
export async function compose(options: ComposeOptions): Promise<Service> {
  const { config, logger } = options;
  const { environment } = config;
  let inForce = config;
  const address = databaseAddress(config);
  const database = openDatabase({ ...address, logger });
  const outbox = new WebhookOutbox(config.webhooks);
  const { databaseGraceSeconds } = config.server;
  const accounts = new Accounts({ database, logger, outbox, databaseGraceSeconds });
  const readUrl = address.url && environment.DATABASE_READ_URL;
  const readReplica = readUrl && openDatabase({ url: readUrl, file: "", logger, migrates: false });
  const reports = new UsageReports(database, readReplica);
  const counters = await openCounters(config, logger, {
    read: () => database.run(readReplicaCount),
    write: (replicas) => database.run((executor) => writeReplicaCount(executor, replicas)),
  });
  const usageRecorder = new UsageRecorder({
    database,
    directory: join(config.dataDirectory, "usage"),
    logger,
    onLost: (lost) => metrics.lostUsage(lost),
  });
  const history = new RequestHistory({ database, logger, days: config.usage.requestDays });
  const see = (ids: string[]) => database.run((executor) => recordFirstSeen(executor, ids, Date.now()));
  const live = new LiveCatalog({ ...options, see, onEndpointLeft: (deployment) => metrics.deploymentLeft(deployment) });
  const { catalog, upstreamModels } = live;
  const metrics = new Metrics({
    deployments: () => measureDeployments(catalog),
    pools: () => measurePools(catalog),
    counters: () => counters.state,
    realtimeSessions: () => server.realtimeSessions(),
  });
  const spentIn = async (caller: Caller, scopeId: string, month: Month) => {
    await usageRecorder.flush();
    return reports.spentBetween(caller, scopeId, month);
  };
  const telemetry = await openTelemetry(config.openTelemetry, metrics.registry, logger);
  const webhooks = new Webhooks({
    database,
    outbox,
    logger,
    spentIn,
    health: () => deploymentHealth(catalog, forWorkers.reports.openCircuits()),
    onAttempt: (event, outcome) => metrics.webhook(event, outcome),
  });
  const onSpent: OwnerParts["onSpent"] = (spent) => webhooks.noteSpent(spent);
  const inference = composeInference({
    config,
    catalog,
    upstreamModels,
    counters,
    callers: accounts.callers,
    metrics,
    spentIn,
    onSpent,
    genAi: telemetry?.genAi,
    recordUsage: (record) => usageRecorder.record(record),
    logger,
  });
  const forWorkers = new OwnerServices({ accounts, counters, usageRecorder, history, live, spentIn, onSpent });
  const operations: Operations = {
    readiness: () =>
      readinessOf({
        catalog,
        checkDatabase: () => accounts.check(),
        waitsFor: (deployment) => live.waitsFor(deployment),
      }),
    metrics: async () => metrics.scrape(await forWorkers.reports.measure()),
    hiddenModels: () => [...catalog.models].flatMap(({ id, isHidden }) => (isHidden ? [id] : [])),
  };
  const hasOwnAddress = config.server.operations !== undefined;
  const failures = new FailedAuthentications({
    counters,
    perMinute: config.limits.failedAuthenticationsPerMinute,
    onRefused: (limit) => metrics.refusal("", limit),
  });
  const { ffmpeg } = config.server;
  await (ffmpeg && checkFfmpeg(ffmpeg).catch((error) => Promise.reject(toAudioFault(error))));
  const uploads = { directory: join(config.dataDirectory, "uploads"), maxBytes: config.server.maxUploadBytes };
  await prepareUploads(uploads.directory);
  const decoder = new Decoder({ folder: uploads.directory, ffmpeg });
  const speechDetection = new SpeechDetection((signal) => voiceActivityFile(options.store, signal));
  const responseStorage = openResponseStorage(config, database, logger);
  const blobs = config.files.s3 === undefined ? new LocalBlobs(config.files.directory) : new S3Blobs(config.files.s3);
  await blobs.check();
  const files = new FileStore({ database, blobs, ...config.files });
  const guard = new OutgoingGuard({ reach: "public" });
  const { upstreamUrls, maxBodyBytes } = config.server;
  const content = new ContentResolver({ inference, files, policy: upstreamUrls, guard, maxBytes: maxBodyBytes });
  const retentions = [
    usageRetention({ database, logger, days: config.usage.recordDays }),
    historyRetention({ database, logger, days: config.usage.requestDays }),
    fileRetention({ database, files, logger }),
    batchRetention({ database, blobs, logger, days: config.files.keepDays }),
  ];
  const batches = new Batches({
    database,
    files,
    logger,
    queue: openBatchQueue({ url: address.url, database, logger, concurrency: config.batches.concurrentBatches }),
    directory: uploads.directory,
    maxLines: config.batches.maxLines,
    maxLineBytes: config.server.maxBodyBytes,
    concurrency: config.batches.concurrentLines,
    callerOf: (keyId) => accounts.callerOfKey(keyId, "batch"),
    runLine: lineRunner(() => server.app),
    onAnswered: (isError) => metrics.batchLine(isError),
    outbox,
  });
  const server = buildServer({
    accounts,
    inference,
    responseStorage,
    files: {
      files,
      uploads: { directory: uploads.directory, maxBytes: config.files.maxFileSize },
      checkUnused: (file) => batches.checkUnused(file),
    },
    content,
    batches,
    administration: {
      resolveModel: (entry) => resolvePermissionEntry(catalog, entry),
      isModerationModel: (id) => catalog.find(id)?.model.task === "moderation",
      reports,
      models: new ModelOperations({ catalog, store: options.store, refresh: () => live.refresh() }),
      history,
      catalog,
      configuration: () => ({ file: inForce.file, ...inForce.inForce }),
      limited: { models: () => catalog.models, defaults: { ...config.limits.projectModel } },
    },
    operations: hasOwnAddress ? undefined : operations,
    metricsKey: environment.PARLANCE_METRICS_KEY,
    maxBodyBytes: config.server.maxBodyBytes,
    transcription: { decoder, uploads, maxAudioSeconds: config.server.maxAudioSeconds },
    realtime: { ...config.realtime, detectSpeech: (signal) => speechDetection.open(signal) },
    maxModerationInputs: config.server.maxModerationInputs,
    receiveTimeoutSeconds: config.server.receiveTimeoutSeconds,
    requestTimeoutSeconds: config.server.requestTimeoutSeconds,
    maxConnectionsPerAddress: config.server.maxConnectionsPerAddress,
    trustedProxies: config.server.trustedProxies,
    corsOrigins: config.server.corsOrigins,
    unknownFields: config.server.unknownFields,
    consoleFolder: config.server.console ? CONSOLE_FOLDER : undefined,
    servesOllama: config.ollama.enabled,
    anonymousHosts: config.ollama.anonymousHosts,
    ignoresMismatchedIds: config.server.mismatchedIds === "ignore",
    countWrongKey: (address) => failures.count(address),
    logger,
    tracing: telemetry?.tracing,
    measure: (request) => metrics.request(request),
    recordRequest: (entry) => history.record(entry),
  });

  return {
    server,
    operationsServer: hasOwnAddress ? buildOperationsServer(operations, logger) : undefined,
    accounts,
    inference,
    backgroundCount: () => responseStorage?.background.runningCount ?? 0,
    batches,
    forWorkers,
    readiness: operations.readiness,
    apply: (next) => {
      inForce = next;
      return live.apply(next);
    },
    greet: (signal) => live.greet(signal),
    downloadDefaultChatModel: (listener, signal) => live.downloadDefaultChatModel(listener, signal),
    close: async () => {
      decoder.close();
      for (const retention of retentions) retention.close();
      await batches.close();
      speechDetection.close();
      await guard.close();
      await responseStorage?.close();
      await live.close();
      await webhooks.close();
      await usageRecorder.close();
      await history.close();
      await counters.close();
      await accounts.close();
      await readReplica?.close();
      await database.close();
      await telemetry?.close();
    },
  };
}

/** Returns undefined where responses are not stored. */
function openResponseStorage(config: Config, database: Database, logger: Logger): ResponseStorage | undefined {
  const { responses, environment, dataDirectory } = config;
  if (!responses.store) return undefined;
  const file = database.kind === "sqlite" ? join(dataDirectory, "encryption.key") : undefined;
  const keyring = openKeyring({ secrets: environment.PARLANCE_ENCRYPTION_KEY, file, logger });
  if (keyring === undefined) return undefined;
  return new ResponseStorage({ ...responses, database, keyring, logger, maxContextBytes: config.server.maxBodyBytes });
}
