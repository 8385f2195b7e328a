import type { Feature } from "../../http/feature.ts";
import { InternalRequests } from "../../http/internal-requests.ts";
import type { Inference } from "../../inference/inference.ts";
import type { Logger } from "../../kernel/logger.ts";
import type { Settings } from "../../kernel/settings/settings.ts";
import type { Metrics } from "../../observability/metrics.ts";
import type { Database } from "../../storage/database.ts";
import type { Accounts } from "../accounts/index.ts";
import type { FileStorage } from "../files/index.ts";
import type { WebhookOutbox } from "../webhooks/index.ts";
import { batchRetention } from "./batch-retention.ts";
import { Batches } from "./batches.ts";
import { checkUnused } from "./check-unused.ts";
import { messageBatches } from "./message-batch-routes.ts";
import { batchMetrics } from "./metrics.ts";
import { batches as routes } from "./routes.ts";

interface BatchParts {
  config: Settings;
  database: Database;
  logger: Logger;
  lifetime: AsyncDisposableStack;
  inference: Inference;
  accounts: Accounts;
  metrics: Metrics;
  outbox: WebhookOutbox;
  files: FileStorage;
}

/** Batches of requests. */
export function openBatches(parts: BatchParts): Feature {
  const { config, database, logger, lifetime, inference, accounts, metrics, outbox } = parts;
  const { blobs, files, directory } = parts.files;
  const { maxLines, concurrentLines, concurrentBatches } = config.batches;
  const lines = new InternalRequests("x-parlance-batch-line");
  const batches = new Batches({
    database,
    files,
    logger,
    concurrentBatches,
    directory,
    maxLines,
    maxLineBytes: config.server.maxBodyBytes,
    concurrency: concurrentLines,
    callerOf: (keyId) => accounts.callerOfKey(keyId, "batch"),
    runLine: lines.run,
    onAnswered: batchMetrics(metrics.registry),
    outbox,
  });
  files.checkBeforeDeletion((file) => checkUnused(database, file));
  lifetime.defer(() => batches.close());
  lifetime.use(batchRetention({ database, blobs, logger, days: config.files.keepDays }));
  return {
    project: [routes(batches), messageBatches(inference, { batches, files, directory, maxLines })],
    addHooks: (app) => lines.addHooks(app),
    start: () => batches.start(),
    drain: () => batches.drain(),
  };
}
